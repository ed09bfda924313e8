"""What a tool is used for, from its name and arguments, whatever program names them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from recall.domain.stream.facts import Tool, ToolKind
from recall.domain.stream.paths import MOST_ITEMS

#: Longer arguments are cut before anything is done with them.
MOST_TEXT: Final = 64 * 1024
_MOST_SUBJECT: Final = 400

_COMMANDS: Final = ("command", "cmd", "script")
_PATHS: Final = ("file_path", "filePath", "path", "absolute_path", "notebook_path", "target_file", "file",
                 "dir_path", "directory")  # fmt: skip
_PATTERNS: Final = ("pattern", "query", "search_term", "regex", "glob_pattern")
_ADDRESSES: Final = ("url", "uri")
_ABOUT: Final = ("description", "title", "name", "prompt", "subject")
_OLD: Final = ("old_string", "old_str", "oldString", "oldText")
_NEW: Final = ("new_string", "new_str", "newString", "newText")
_CONTENT: Final = ("content", "contents", "file_text", "fileText")
_PATCHES: Final = ("patch", "patchText", "input", "diff")

_SHELL: Final = re.compile(r"^(?:/usr)?(?:/bin/)?(?:ba|z|da)?sh -l?c (['\"]?)(.*)\1$", re.DOTALL)
_PATCHED: Final = re.compile(r"^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ (?:b/)?)(.+)$", re.MULTILINE)


def tool_of(name: str, arguments: Any) -> Tool:
    """Tell what a call is for. `arguments` is what the event holds: an object, or text that holds one."""
    given = _table(arguments)
    short = re.sub(r"(?:_?tool)?_?call$", "", name, flags=re.IGNORECASE)
    word = re.sub(r"[^a-z]", "", short.lower())
    path = _first(given, _PATHS)
    if command := _command(given):
        return Tool(ToolKind.COMMAND, short, _subject(command))
    if counts := _counts(given):
        return Tool(ToolKind.EDIT, short, _subject(path), *counts)
    if patch := _patch(given):
        return Tool(ToolKind.EDIT, short, _subject(path or _patched(patch)), *_patch_counts(patch))
    if path and (content := _first(given, _CONTENT)):
        return Tool(ToolKind.WRITE, short, _subject(path), added=line_count(content))
    if "delete" in word or "remove" in word:
        return Tool(ToolKind.DELETE, short, _subject(path))
    if pattern := _first(given, _PATTERNS):
        return Tool(ToolKind.SEARCH, short, _subject(f"{pattern} in {path}" if path else pattern))
    if address := _first(given, _ADDRESSES):
        return Tool(ToolKind.FETCH, short, _subject(address))
    if path:
        kind = next((kind for kind, words in _BY_NAME if any(one in word for one in words)), ToolKind.OTHER)
        return Tool(kind, short, _subject(path))
    return Tool(ToolKind.OTHER, short, _subject(_first(given, _ABOUT)))


#: What a tool that is given a path alone does with it, by what its name holds.
_BY_NAME: Final = (
    (ToolKind.WRITE, ("write", "create")),
    (ToolKind.EDIT, ("edit", "replace", "patch", "update")),
    (ToolKind.READ, ("read", "view", "cat", "open")),
)


def line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def changed_lines(old: str, new: str) -> tuple[int, int]:
    """Lines added and removed, counted between the lines that both begin and both end with."""
    before, after = old.splitlines(), new.splitlines()
    head = _common(zip(before, after, strict=False))
    most = min(len(before), len(after)) - head
    tail = min(_common(zip(reversed(before), reversed(after), strict=False)), most)
    return len(after) - head - tail, len(before) - head - tail


def _common(pairs: Iterable[tuple[str, str]]) -> int:
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _table(arguments: Any) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments[:1] == "{" else {"input": arguments}
        except (ValueError, RecursionError):
            return {}
    return cast("Mapping[str, Any]", arguments) if isinstance(arguments, dict) else {}


def _first(given: Mapping[str, Any], names: Iterable[str]) -> str:
    found = (given.get(name) for name in names)
    return next((value[:MOST_TEXT] for value in found if isinstance(value, str) and value), "")


def _command(given: Mapping[str, Any]) -> str:
    words = given.get("command")
    if isinstance(words, list):
        return " ".join(str(word) for word in cast("list[object]", words)[:MOST_ITEMS])
    command = _first(given, _COMMANDS)
    if _first(given, _PATHS) and _first(given, _OLD + _NEW + _CONTENT):
        return ""  # an editor whose `command` says how it edits
    wrapped = _SHELL.match(command)
    return wrapped[2] if wrapped else command


def _counts(given: Mapping[str, Any]) -> tuple[int, int] | None:
    """Lines added and removed by one replacement, or by a list of them."""
    inner = given.get("edits", given.get("replacements"))
    edits = cast("list[object]", inner)[:MOST_ITEMS] if isinstance(inner, list) else [given]
    tables = [cast("Mapping[str, Any]", edit) for edit in edits if isinstance(edit, dict)]
    pairs = [changed_lines(_first(one, _OLD), _first(one, _NEW)) for one in tables if _replaces(one)]
    return (sum(added for added, _ in pairs), sum(removed for _, removed in pairs)) if pairs else None


def _replaces(edit: Mapping[str, Any]) -> bool:
    return any(name in edit for name in _OLD) or any(name in edit for name in _NEW)


def _patch(given: Mapping[str, Any]) -> str:
    text = _first(given, _PATCHES)
    return text if _PATCHED.search(text) else ""


def _patched(patch: str) -> str:
    paths = list(dict.fromkeys(match[1].strip() for match in _PATCHED.finditer(patch)))
    return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")


def _patch_counts(patch: str) -> tuple[int, int]:
    lines = patch.splitlines()
    added = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
    return added, sum(line.startswith("-") and not line.startswith("---") for line in lines)


def _subject(text: str) -> str:
    """One line of it."""
    first, _, rest = text.strip().partition("\n")
    cut = first[:_MOST_SUBJECT]
    return f"{cut} …" if rest or len(first) > _MOST_SUBJECT else cut
