"""Tells what looks like a secret: by a file's name, by the head of a private key, by the shape of a service's token.

A finding says where and what kind. The secret itself goes no further than this module.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from fnmatch import fnmatch

from recall.domain.frozen import frozen

_NAMES = (
    ".env", ".env.*", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", ".netrc", ".pgpass", ".pypirc",
    ".git-credentials", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "credentials.json",
)  # fmt: skip
_EXAMPLE_NAMES = ("*.example", "*.sample", "*.template", "*.dist", "*.defaults")

_Kind = tuple[str, bytes, re.Pattern[bytes]]  # its name, words that each of its kind holds, its shape

#: A head is taken with what follows it, so that two keys are not held for one.
_KEYS: tuple[_Kind, ...] = tuple(
    (kind, hint, re.compile(shape))
    for kind, hint, shape in (
        ("a private key", b"PRIVATE KEY", rb"-{4,5} ?BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)? ?-{4,5}[^-]{0,200}"),
        ("a private key", b"OpenVPN Static key", rb"-----BEGIN OpenVPN Static key V1-----[^-]{0,200}"),
        ("a private key", b"PuTTY-User-Key-File-", rb"PuTTY-User-Key-File-\d: [^-]{0,200}"),
        ("a private key", b"AGE-SECRET-KEY-", rb"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{20,}"),
    )
)

_TOKENS: tuple[_Kind, ...] = tuple(
    (kind, hint, re.compile(rb"(?<![A-Za-z0-9_])" + shape))
    for kind, hint, shape in (
        ("an AWS access key", b"AKIA", rb"AKIA[0-9A-Z]{16}(?![0-9A-Z])"),
        ("an AWS access key", b"ASIA", rb"ASIA[0-9A-Z]{16}(?![0-9A-Z])"),
        ("a GitHub token", b"gh", rb"gh[pousr]_[A-Za-z0-9]{36,}"),
        ("a GitHub token", b"github_pat_", rb"github_pat_[A-Za-z0-9_]{40,}"),
        ("a GitLab token", b"gl", rb"gl(?:pat|dt|rt|ptt|ft|cbt)-[A-Za-z0-9_-]{20,}"),
        ("a Slack token", b"xox", rb"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
        ("a Slack token", b"xapp-", rb"xapp-\d-[A-Za-z0-9-]{20,}"),
        ("a Slack webhook", b"hooks.slack.com", rb"hooks\.slack\.com/services/T\w{6,}/B\w{6,}/\w{16,}"),
        ("a Stripe key", b"k_live_", rb"[sr]k_live_[A-Za-z0-9]{16,}"),
        ("a Google API key", b"AIza", rb"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
        ("a Google client secret", b"GOCSPX-", rb"GOCSPX-[A-Za-z0-9_-]{28}"),
        ("an OpenAI key", b"sk-", rb"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}"),
        ("an OpenAI key", b"T3BlbkFJ", rb"sk-[A-Za-z0-9]{16,}T3BlbkFJ[A-Za-z0-9]{16,}"),
        ("an Anthropic key", b"sk-ant-", rb"sk-ant-[a-z0-9]+-[A-Za-z0-9_-]{20,}"),
        ("an npm token", b"npm_", rb"npm_[A-Za-z0-9]{36}"),
        ("a PyPI token", b"pypi-AgE", rb"pypi-AgE[A-Za-z0-9_-]{50,}"),
        ("a crates.io token", b"cio", rb"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
        ("a Docker Hub token", b"dckr_", rb"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
        ("a Hugging Face token", b"hf_", rb"hf_[A-Za-z0-9]{30,}"),
        ("a SendGrid key", b"SG.", rb"SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}"),
        ("a DigitalOcean token", b"_v1_", rb"do[opr]_v1_[a-f0-9]{64}"),
        ("a Shopify token", b"shp", rb"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
        ("a Vault token", b"hv", rb"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
        ("a Telegram bot token", b":AA", rb"\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"),
        ("an Azure storage key", b"AccountKey=", rb"AccountKey=[A-Za-z0-9+/]{86}=="),
    )
)

_SAMPLE = re.compile(rb"example|placeholder|xxxx", re.IGNORECASE)
#: A token holds more different letters than a made-up one such as `ghp_aaaaaaaa…`.
_FEWEST_LETTERS = 10


@frozen
class Secret:
    """Where one begins, and what it seems to be."""

    line: int
    kind: str


def has_secret_name(path: str) -> bool:
    name = _name(path)
    return not _is_example(name) and any(fnmatch(name, pattern) for pattern in _NAMES)


def secrets_in(path: str, content: bytes) -> dict[str, Secret]:
    """Give what looks like a secret in a file, by a hash of each, so that one that was there before can be told.
    Heads of keys in files that are called examples are none, nor are tokens that say so themselves."""
    found: dict[str, Secret] = {}
    for kind, text, at in _matches(content, is_example=_is_example(_name(path))):
        found.setdefault(hashlib.sha256(text).hexdigest(), Secret(content.count(b"\n", 0, at) + 1, kind))
    return found


def _matches(content: bytes, *, is_example: bool) -> Iterator[tuple[str, bytes, int]]:
    """The words come first: to look for them is many times as fast."""
    for kind, hint, shape in () if is_example else _KEYS:
        if hint in content:
            yield from ((kind, match[0], match.start()) for match in shape.finditer(content))
    for kind, hint, shape in _TOKENS:
        if hint in content:
            genuine = (match for match in shape.finditer(content) if not _is_sample(match[0]))
            yield from ((kind, match[0], match.start()) for match in genuine)


def _is_sample(token: bytes) -> bool:
    return len(set(token)) < _FEWEST_LETTERS or bool(_SAMPLE.search(token))


def _name(path: str) -> str:
    return path.rpartition("/")[2].lower()


def _is_example(name: str) -> bool:
    return any(fnmatch(name, pattern) for pattern in _EXAMPLE_NAMES)
