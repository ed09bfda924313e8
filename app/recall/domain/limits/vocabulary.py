"""The words of usage limits: what every agent's output is read for, and what only looks like it.

Agents add their own in their presets. All are Python regular expressions, matched without case on cleaned text
in which every kind of space is one space and every apostrophe is `'`.
"""

from __future__ import annotations

from recall.domain.usage import LimitPatterns

_GAP = r"[^.;!?]{0,48}?"
_KIND = r"(?:usage|session|weekly|daily|monthly|hourly|plan|account|request|message|rate|token|model|quota|free|tier)"
_WINDOW = r"(?:\d+[- ]?(?:hour|hr|h|day|d|week|month|minute|min))"
_SPENT = r"(?:reached|exceeded|exhausted|hit|used up|used all|depleted|maxed out|run out of|ran out of|out of|over)"
_GAUGE = r"(?:limits?|quotas?|usage|capacity|allowance|allotment)"

#: Limits that are not an account's: they say nothing about when an agent may go on.
OTHER_LIMITS = (
    r"\b(?:context(?: window)?|(?:output|input|prompt|max(?:imum)?)(?: tokens?)?|time|turns?|recursion|depth|size"
    r"|memory|length|retry|retries|lines?|stack|char(?:acter)?s?|words?|files?|disk|body|attempts?|iterations?|steps?"
    r"|storage|connections?|bug|rounds?|upload|concurrency|process(?:es)?|cpu) (?:length |window )?limit",
)

#: Said while work goes on: early warnings, retries by the client itself, a change of model.
GOES_ON = (
    r"\bused (?:over |about |more than )?\d+ ?%",
    r"\b(?:approaching|nearing|close to|almost|nearly|running low|will (?:soon )?(?:hit|reach|exceed))\b",
    r"\d+ ?% (?:of|remaining|left|used)",
    r"\bswitch(?:ing|ed) (?:from|to|over)\b|\bfall(?:ing)? back to\b",
)

RETRYING = r"\bretry(?:ing)? (?:after|in|attempt)\b|\battempt #?\d+\b|\breconnecting\b"

#: An account's window is used up.
SPENT = (
    r"(?<![\w:.])(?:usage_limit_(?:reached|exceeded)|(?:daily|weekly|monthly|session)_limit_(?:reached|exceeded)"
    r"|free-usage-exhausted|terminalquotaerror|quota_exhausted|user_\w+_rate_limited|blocking_limit)(?![\w:])",
    rf"\b(?:you|you've|your|account|organi[sz]ation|workspace|team|plan)\b{_GAP}\b{_SPENT}\b{_GAP}\b{_GAUGE}\b",
    rf"\b(?:{_KIND}|{_WINDOW}|opus|sonnet|fable|haiku)(?: {_KIND})* (?:limits?|quota) "
    r"(?:has been |was |is |have been )?(?:reached|exceeded|exhausted|hit|used up|depleted)\b",
    r"\b(?:limit|quota|usage|allowance)(?: for [\w .-]{1,40}?)? (?:has been |was |is )?"
    r"(?:reached|exceeded|exhausted|used up|depleted)\b",
    rf"\b(?:would exceed|has exceeded|exceeded|reached) (?:your|the|its|my|this)\b{_GAP}\b(?:limit|quota)\b",
    r"\b(?:used|consumed) all (?:of )?(?:your|the|available) [\w -]{0,20}(?:usage|requests|tokens|messages)\b",
    r"\bout of (?:extra |free |included )?(?:usage|messages|requests|prompts)\b",
    r"\b(?:limit|quota|allowance)\b[^.;!?|]{0,40}? (?:has|have) been (?:reached|exceeded|exhausted|depleted)\b",
    r"(?:已达到?|达到|超出|超过)[^。|]{0,16}(?:上限|限额|额度|配额|限制)|(?:额度|配额|限额|用量)[^。|]{0,8}(?:用完|耗尽|已满)",
    r"\bplan limit reached\b|\blimit (?:reached|exceeded) (?:for|until|·|∙)",
)

#: Too fast, or a limit that does not say which. Short when the wait is.
THROTTLED = (
    r"(?<![\w:.])(?:insufficient_quota|rate_limit(?:_error|_exceeded|ed)?|too_many_requests|resource_exhausted"
    r"|throttlingexception|quota_exceeded|retryablequotaerror|ratelimiterror|e?429_too_many_requests)(?![\w:])",
    r"\brate[- ]limit(?:ed|ing)?(?: has been| was)? ?(?:exceeded|reached|hit|error|exhausted)\b",
    r"\b(?:hit|exceeded|reached) (?:a|the|your|our|its) (?:\w+ ){0,2}rate[- ]limit",
    r"\b(?:been|being|are|is|was|you're|temporarily) rate[- ]limited\b|(?:^|[|:] )(?:error:? )?rate[- ]limited\b",
    r"\brate limited you\b|\brequest was throttled\b",
    r"\btoo many (?:requests|tokens)\b",
    r"\b(?:http(?:/\d(?:\.\d)?)?|status(?: code)?|error(?: code)?|code|api error|last status)[ :=(]{1,3}429\b",
    r"^\W*429\b(?! ?[%/\w]*(?: passed| failed| tests| lines| files))|\(429\)",
    r"\bresource (?:has been )?exhausted\b",
)

PER_MINUTE = r"\bper (?:second|minute)\b|\b(?:rpm|tpm|rps)\b"

CREDIT = (
    r"\bcredit balance is (?:too )?low\b",
    r"\b(?:insufficient|not enough|no (?:more |remaining )?) ?(?:credits?|balance|funds)\b",
    r"\b(?:out of|ran out of|run out of|used all(?: of)?(?: your)?(?: available)?|no) (?:\w+ )?credits\b",
    r"\bcredits? (?:exhausted|depleted|used up|required)\b",
    r"\bspend(?:ing)? (?:limit|cap)\b|\bshared budget\b|\bmonthly budget\b",
    r"\bpayment required\b|\bbilling[ _](?:hard[ _]limit|error|not[ _]configured)|\bhttp 402\b|^\W*402\b",
    r"\bcheck your plan and billing\b|\byou have no quota\b",
    r"余额不足|欠费|\baccount is not active\b",
    r"\bsubscription (?:has )?(?:expired|lapsed|is inactive|been cancell?ed)\b",
)

AUTH = (
    r"\bnot (?:logged|signed) in\b|\b(?:please )?(?:run|use) [`'\"]?(?:/login|\w+ (?:auth )?login)\b",
    r"\b(?:please|you must|you need to) (?:log|sign) ?in\b|\b(?:re-?authenticate|sign in again|log in again)\b",
    r"\b(?:invalid|incorrect|missing) (?:\w+ )?api key\b|\binvalid_api_key\b|\binvalid x-api-key\b",
    r"\b(?:oauth |access |refresh |auth )?token (?:has |was |is )?(?:been )?(?:expired|revoked)\b",
    r"\b(?:login|oauth session|your session|credentials?) (?:has |have )?expired\b",
    r"\b(?:api error|unexpected status|http|status(?: code)?)[ :=(]{1,3}401\b",
    r"(?<![\w:.])(?:authentication_error|authentication_failed|authentication_required|unauthenticated)(?![\w:])",
)

#: Said to tell passing trouble from the account's limit, whose words it uses.
NOT_YOURS = (r"\bnot your usage limit\b",)

TRANSIENT = (
    r"\boverloaded(?:_error)?\b|\bserver is (?:busy|temporarily)\b"
    r"|\btemporarily (?:limiting|unavailable|overloaded)\b",
    r"\b(?:at|over|no) capacity\b|\bmodel_capacity_exhausted\b|\b(?:high|heavy) (?:demand|load|traffic)\b",
    r"\b(?:api error|http(?:/\d(?:\.\d)?)?|status(?: code)?|unexpected status)[ :=(]{1,3}(?:5\d\d|408)\b",
    r"\b(?:service unavailable|bad gateway|gateway time-?out|internal server error)\b",
    r"\bstream (?:disconnected|error|closed)\b|\bconnection (?:lost|reset|closed|error|failed)\b",
    r"\b(?:econnreset|etimedout|eai_again|socket hang up|fetch failed)\b|\brequest timed out\b|\bno response from\b",
)

#: A group of expressions is only tried on text that holds one of these words: most lines hold none.
HINTS: dict[tuple[str, ...], tuple[str, ...]] = {
    OTHER_LIMITS: ("limit",),
    NOT_YOURS: ("not your usage",),
    SPENT: (
        "limit", "quota", "usage", "capacity", "allowance", "allotment", "exhausted", "used all", "consumed all",
        "out of ", "限", "额", "用量",
    ),
    THROTTLED: ("limit", "quota", "429", "too many", "too_many", "throttl", "exhausted"),
    CREDIT: (
        "credit", "balance", "funds", "spend", "budget", "payment", "billing", "402", "no quota", "subscription",
        "not active", "余额", "欠费",
    ),
    AUTH: (
        "logged", "login", "log in", "sign in", "signed in", "authenticat", "api key", "api_key", "api-key", "token",
        "expired", "401",
    ),
    TRANSIENT: (
        "overloaded", "busy", "temporarily", "capacity", "demand", "heavy", "high load",
        "high traffic", "api error", "http", "status", "unavailable", "gateway", "internal server", "stream",
        "connection", "econn", "etimed", "eai_again", "hang up", "fetch failed", "timed out", "no response",
    ),
}  # fmt: skip

#: What every agent inherits, custom ones too. Only ever matched in error position.
DEFAULT_PATTERNS = LimitPatterns(limit=SPENT + THROTTLED, credit=CREDIT, auth=AUTH, transient=NOT_YOURS + TRANSIENT)
