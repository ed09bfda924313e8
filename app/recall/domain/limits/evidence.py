"""Finding the places in a log that may speak of a limit at all: the agent's own error events, and the text
around them. What a model says and what its tools print is content, not evidence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from recall.domain.frozen import frozen
from recall.domain.text import clean

_Json = Mapping[str, Any]

#: An event larger than this holds a tool's output, not an error.
_MAX_EVENT = 262_144
_MAX_TEXT = 4000
_MAX_PREFIX = 200
_MAX_LEAVES = 200
_MAX_DEPTH = 8

_CONTENT = re.compile(r"assistant|user|item\.|message|tool|text|thought|reasoning|part|step|content")
_CONTENT_HEAD = re.compile(r'\s*\{\s*"type"\s*:\s*"(?:assistant|user|item\.(?:started|updated)|tool)')
_FAILURE = re.compile(r"(?:^|[._/])(?:error|failed|failure)$")
_ERROR_PREFIX = re.compile(
    r"(?:^|\b)(?:[a-z]*error|err|fatal|failed|failure|exception|refused|rejected)\b|(?<!\d)[45]\d\d(?!\d)",
    re.IGNORECASE,
)
_HEADER = re.compile(r"\s*[\w-]*(?:retry|reset)[\w-]*\s*[:=]", re.IGNORECASE)
_STATUS_KEY = re.compile(r"^(?:http_?)?status(?:_?code)?$|^code$|^api_error_status$", re.IGNORECASE)
_RESET_KEY = re.compile(r"reset|retry|cool-?down|^wait", re.IGNORECASE)
_SILENT_KEYS = frozenset(
    {"session_id", "sessionid", "uuid", "id", "request_id", "requestid", "model", "cwd", "stack", "usage",
     "modelusage", "permission_denials", "tool_input", "timestamp", "parentid", "url", "plan_type", "@type"}
)  # fmt: skip


@frozen
class Evidence:
    """One place that may speak of a limit. `rejected`: an event whose whole meaning is a refused request.
    `fields` are keys with their values that may hold the reset. `age` counts what the agent did afterwards."""

    text: str
    fields: tuple[tuple[str, str | float], ...] = ()
    rejected: bool = False
    age: int = 0


@dataclass(slots=True)
class Log:
    """A tail taken apart: its error events, the oldest first, and the lines that are no events."""

    events: list[Evidence] = field(default_factory=list[Evidence])
    lines: list[str] = field(default_factory=list[str])
    succeeded: bool = False


@frozen
class _Piece:
    """A JSON object in the log with the text before and behind it, or text only; `lines` is how many it takes."""

    lines: int
    event: _Json | None
    around: str = ""


def take_apart(tail: str, last: int) -> Log:
    """Sort the last lines of a raw log into events and text."""
    log, lines = Log(), tail.rstrip().splitlines()[-last:]
    at = 0
    while at < len(lines):
        piece = _piece(lines, at)
        at += piece.lines
        if piece.event is not None:
            _sort_in(log, piece.event, piece.around)
        elif log.events and not log.lines and is_header(piece.around):
            log.events[-1] = replace(log.events[-1], text=f"{log.events[-1].text} | {piece.around}")
        else:
            log.lines += piece.around.split("\n")
    return log


def is_header(line: str) -> bool:
    """Say whether a line is a header or a field of its own that may say when to come back."""
    return _HEADER.match(line) is not None


def _piece(lines: list[str], at: int) -> _Piece:
    line = lines[at].removeprefix("data: ")
    if _CONTENT_HEAD.match(line) and '"error"' not in line[:400]:
        return _Piece(1, {"type": "assistant"})
    start = line.find("{")
    prefix = clean(line[: max(start, 0)]).strip(" [")
    if len(line) > _MAX_EVENT or not 0 <= start <= _MAX_PREFIX or (prefix and not _ERROR_PREFIX.search(prefix)):
        return _Piece(1, None, clean(line[:_MAX_TEXT]))
    whole = line[start:] if line.rstrip().endswith("}") else "\n".join([line[start:], *lines[at + 1 :]])[:_MAX_EVENT]
    try:
        event, end = json.JSONDecoder(strict=False).raw_decode(whole)
    except (ValueError, RecursionError):
        return _Piece(1, None, clean(line[:_MAX_TEXT]))
    behind = clean(whole[end:].partition("\n")[0]).strip("] ")
    return _Piece(1 + whole.count("\n", 0, end), cast(_Json, event), f"{prefix} {behind}".strip())


def _sort_in(log: Log, event: _Json, around: str) -> None:
    kind = str(event.get("type", ""))
    if kind == "rate_limit_event":
        info = event.get("rate_limit_info")
        if isinstance(info, dict) and cast(_Json, info).get("status") == "rejected":
            log.events.append(_evidence(cast(_Json, info), "usage limit reached", rejected=True))
    elif around or _is_failure(kind, event):
        log.events.append(_evidence(event, around))
    elif kind == "result":
        log.events.clear()
        log.succeeded = True
    elif _CONTENT.match(kind):
        log.events = [replace(one, age=one.age + 1) for one in log.events]


def _is_failure(kind: str, event: _Json) -> bool:
    if kind == "result":
        bad_end = str(event.get("subtype", event.get("status", ""))).lower().startswith("error")
        return bool(event.get("is_error")) or bad_end or bool(event.get("error")) or bool(event.get("exitCode"))
    if _CONTENT.match(kind):
        return kind == "assistant" and bool(event.get("error"))
    if _FAILURE.search(kind) or event.get("error") or event.get("errors"):
        return True
    if str(event.get("level", event.get("severity", ""))).lower() in {"error", "fatal"}:
        return True
    if event.get("role") == "assistant":
        return str(event.get("content", "")).startswith("Error")
    status = event.get("http_status", event.get("status_code", event.get("statusCode")))
    return not kind and isinstance(status, int) and status >= 400


def _evidence(event: _Json, around: str, *, rejected: bool = False) -> Evidence:
    words, fields = [around] if around else [], list[tuple[str, str | float]]()
    for key, value in _leaves(event):
        if _RESET_KEY.search(key) and not isinstance(value, bool):
            fields.append((key, value))
        elif _STATUS_KEY.match(key) and re.fullmatch("[45]\\d\\d", str(value)):
            words.append(f"HTTP {value}")
        elif isinstance(value, str) and key.lower() not in _SILENT_KEYS:
            words.append(value)
    return Evidence(clean(" | ".join(words)[:_MAX_TEXT]), tuple(fields), rejected)


def _leaves(event: _Json) -> Iterator[tuple[str, str | float]]:
    """Give every text and number of the event with its key, the outermost first. Text that is JSON itself is
    taken apart like the rest."""
    queue: list[tuple[str, Any, int]] = [("", event, 0)]
    for key, value, depth in queue:
        if len(queue) > _MAX_LEAVES or depth > _MAX_DEPTH:
            return
        inner = _inner(value)
        if isinstance(inner, dict):
            queue += [(str(k), v, depth + 1) for k, v in cast(_Json, inner).items()]
        elif isinstance(inner, list):
            queue += [(key, v, depth + 1) for v in cast(list[Any], inner)]
        if isinstance(value, (str, int, float)):
            yield key, value


def _inner(value: Any) -> Any:
    """Give what stands behind a value: itself, or the object that its text holds."""
    if not isinstance(value, str):
        return value
    start = value.find("{")
    if not 0 <= start <= _MAX_PREFIX:
        return None
    try:
        return json.JSONDecoder(strict=False).raw_decode(value[start:])[0]
    except (ValueError, RecursionError):
        return None
