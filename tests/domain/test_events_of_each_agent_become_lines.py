"""Each preset's rules read its program's own events, and what comes of them is short, calm and harmless."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from recall.agents.presets import load_preset, preset_names
from recall.domain.errors import ConfigError
from recall.domain.run import Run, RunState
from recall.domain.stream.dialect import Dialect, dialect_of
from recall.domain.stream.facts import Limited, ToolKind
from recall.domain.stream.press import Press
from recall.domain.stream.reading import LONGEST_EVENT, facts_of
from recall.domain.stream.rendering import Page
from recall.domain.stream.spending import Spending, dollars, since, spending_words
from recall.domain.stream.tools import changed_lines, tool_of

CASES = Path(__file__).parents[1] / "cases" / "limits.json"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
PYTEST_LINES = "\n".join(f"tests/test_{n}.py ." for n in range(40)) + "\n40 passed"


#: What may stand where an object is expected.
SHAPES: list[Any] = [None, 7, "text", [], [[]], {}, {"content": 3}, {"content": [None, 3, [1], {}]}]


def dialect(preset: str) -> Dialect:
    found = load_preset(preset).stream
    assert found is not None
    return found


def press_of(preset: str, folder: str = "") -> Press:
    return Press(dialect(preset), Page(folder))


def as_lines(events: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(event, separators=(",", ":")).encode() + b"\n" for event in events)


def read(preset: str, *events: dict[str, Any]) -> tuple[list[str], Spending]:
    """The lines without their colours, and what was used up."""
    press = press_of(preset)
    text, taken = press.take(as_lines(list(events)))
    assert taken == len(as_lines(list(events)))
    return _COLOUR.sub("", text.decode()).splitlines(), press.page.tally.spending


def claude_said(id_: str, *content: dict[str, Any], **usage: int) -> dict[str, Any]:
    message = {"id": id_, "type": "message", "role": "assistant", "content": list(content), "usage": usage}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, "session_id": "s-1"}


def claude_call(id_: str, name: str, **given: Any) -> dict[str, Any]:
    return claude_said(f"m-{id_}", {"type": "tool_use", "id": id_, "name": name, "input": given}, output_tokens=9)


def claude_gave(id_: str, text: Any, *, wrong: bool = False) -> dict[str, Any]:
    content = [{"type": "tool_result", "tool_use_id": id_, "content": text, "is_error": wrong}]
    return {"type": "user", "message": {"role": "user", "content": content}, "session_id": "s-1"}


CLAUDE_START = {
    "type": "system", "subtype": "init", "cwd": "/home/me/tree", "session_id": "s-1", "model": "m", "tools": ["Read"],
    "mcp_servers": [], "permissionMode": "bypassPermissions", "claude_code_version": "2.1.332",
}  # fmt: skip
CLAUDE_END = {
    "type": "result", "subtype": "success", "is_error": False, "result": "All is done.", "num_turns": 4,
    "duration_ms": 9, "total_cost_usd": 0.4137, "session_id": "s-1", "terminal_reason": "completed",
    "usage": {"input_tokens": 12, "output_tokens": 300},
    "modelUsage": {
        "big": {"inputTokens": 100, "cacheReadInputTokens": 30_000, "cacheCreationInputTokens": 1_900,
                "outputTokens": 800, "costUSD": 0.4},
        "small": {"inputTokens": 1_000, "outputTokens": 40, "costUSD": 0.0137},
    },
}  # fmt: skip


def test_claude_reads_edits_and_runs() -> None:
    lines, spending = read(
        "claude",
        CLAUDE_START,
        claude_said("m1", {"type": "thinking", "thinking": "Where is it?", "signature": "x"}),
        claude_said("m1", {"type": "text", "text": "I look at the settings.\n\nThen I change them."}),
        claude_call("t1", "Read", file_path="/home/me/tree/src/config.py"),
        claude_gave("t1", "1\timport os\n2\timport re\n3\t"),
        claude_call(
            "t2", "Edit", file_path="/home/me/tree/src/config.py", old_string="a\nb\nc", new_string="a\nx\ny\nc"
        ),
        claude_gave("t2", "The file has been updated."),
        claude_call("t3", "Bash", command="pytest -q tests/test_config.py", description="Run the tests"),
        claude_gave("t3", [{"type": "text", "text": PYTEST_LINES}]),
        claude_call("t4", "Grep", pattern="def load", path="src"),
        claude_gave("t4", "src/config.py:3"),
        claude_call("t5", "Write", file_path="/home/me/tree/new.py", content="a\nb\n"),
        claude_gave("t5", "No permission", wrong=True),
        CLAUDE_END,
    )
    assert lines == [
        "Where is it?",
        "I look at the settings.",
        "",
        "Then I change them.",
        "Read src/config.py (3 lines)",
        "Edited src/config.py  +2 −1",
        "$ pytest -q tests/test_config.py",
        *(f"tests/test_{n}.py ." for n in range(6)),
        "… 21 more lines",
        *(f"tests/test_{n}.py ." for n in range(27, 40)),
        "40 passed",
        "Searched def load in src (1 line)",
        "Wrote new.py  +2  failed",
        "No permission",
        "33.0k tokens in (30.0k cached), 840 out, $0.41",
    ]
    assert spending == Spending("s-1", 33_000, 840, 30_000, 0.4137)


def test_claude_counts_each_answer_once_while_it_works() -> None:
    first = {"input_tokens": 3, "cache_read_input_tokens": 1000, "output_tokens": 5}
    _, spending = read(
        "claude",
        claude_said("m1", {"type": "text", "text": "a"}, **first),
        claude_said("m1", {"type": "text", "text": "b"}, **{**first, "output_tokens": 50}),
        claude_said("m2", {"type": "text", "text": "c"}, input_tokens=7, output_tokens=1),
    )
    assert spending == Spending(None, 1010, 51, 1000, None)


def test_claude_tells_of_a_limit_only_when_it_is_refused() -> None:
    info = {"status": "allowed_warning", "resetsAt": 1774000000, "rateLimitType": "five_hour", "utilization": 0.9}
    refused = {
        **CLAUDE_END, "is_error": True, "result": "You've hit your session limit · resets 3:45pm",
        "api_error_status": 429, "terminal_reason": "blocking_limit", "total_cost_usd": 0, "modelUsage": {},
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }  # fmt: skip
    lines, spending = read(
        "claude",
        {"type": "rate_limit_event", "rate_limit_info": info},
        {"type": "rate_limit_event", "rate_limit_info": {**info, "status": "rejected"}},
        refused,
    )
    assert lines == ["usage limit reached (five hour)", "You've hit your session limit · resets 3:45pm"]
    assert spending == Spending("s-1")
    line = json.dumps({"type": "rate_limit_event", "rate_limit_info": {**info, "status": "rejected"}}).encode()
    assert facts_of(line, dialect("claude")) == (Limited("five_hour", 1774000000),)


@pytest.mark.parametrize("preset", ["amp", "qwen", "grok"])
def test_those_in_claudes_shape_are_read_like_it(preset: str) -> None:
    end = {"type": "result", "subtype": "success", "is_error": False, "result": "ok", "session_id": "T-1",
           "usage": {"input_tokens": 50, "cache_read_input_tokens": 1950, "output_tokens": 7}}  # fmt: skip
    lines, spending = read(
        preset,
        {**CLAUDE_START, "session_id": "T-1"},
        claude_call("t1", "Bash", cmd="make"),
        claude_gave("t1", "built"),
        end,
    )
    assert lines == ["$ make", "built", "ok", "2.0k tokens in (1.9k cached), 7 out"]
    assert spending == Spending("T-1", 2000, 7, 1950, None)


def test_codex_items_are_read() -> None:
    command = {"id": "item_1", "type": "command_execution", "command": "bash -lc 'pytest -q'"}
    lines, spending = read(
        "codex",
        {"type": "thread.started", "thread_id": "0199a213"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "item_0", "type": "reasoning", "text": "**Planning**"}},
        {"type": "item.started", "item": {**command, "aggregated_output": "", "status": "in_progress"}},
        {"type": "item.completed", "item": {**command, "aggregated_output": "1 failed\n", "exit_code": 1}},
        {
            "type": "item.completed",
            "item": {
                "id": "item_2", "type": "file_change", "status": "completed",
                "changes": [{"path": "src/a.py", "kind": "update"}, {"path": "b.py", "kind": "delete"}],
            },
        },
        {"type": "item.updated", "item": {"id": "item_3", "type": "todo_list", "items": []}},
        {"type": "item.completed", "item": {"id": "item_4", "type": "agent_message", "text": "Fixed it."}},
        {
            "type": "turn.completed",
            "usage": {"input_tokens": 24_763, "cached_input_tokens": 24_448, "output_tokens": 122},
        },
    )  # fmt: skip
    assert lines == [
        "**Planning**",
        "$ pytest -q  failed",
        "1 failed",
        "Edited src/a.py",
        "Deleted b.py",
        "Fixed it.",
        "24.8k tokens in (24.4k cached), 122 out",
    ]
    assert spending == Spending("0199a213", 24_763, 122, 24_448, None)


def test_codex_says_an_error_once() -> None:
    words = "You've hit your usage limit. To get more access now, try again at 3:51 PM."
    lines, _ = read(
        "codex", {"type": "error", "message": words}, {"type": "turn.failed", "error": {"message": words}}
    )
    assert lines == [words]


def test_gemini_joins_what_it_says_in_pieces() -> None:
    when = {"timestamp": "2026-08-21T10:00:00.000Z"}
    lines, spending = read(
        "gemini",
        {"type": "init", "session_id": "g-1", "model": "m", **when},
        {"type": "message", "role": "user", "content": "Do it", **when},
        {"type": "message", "role": "assistant", "content": "I will ", "delta": True, **when},
        {"type": "message", "role": "assistant", "content": "look.\nNow", "delta": True, **when},
        {"type": "tool_use", "tool_name": "read_file", "tool_id": "1", "parameters": {"absolute_path": "/a/b.py"}},
        {"type": "tool_result", "tool_id": "1", "status": "success", "output": "x\ny"},
        {"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "2", "parameters": {"command": "ls"}},
        {"type": "tool_result", "tool_id": "2", "status": "error", "error": {"type": "X", "message": "denied"}},
        {"type": "error", "severity": "warning", "message": "Loop detected"},
        {
            "type": "result", "status": "success",
            "stats": {"total_tokens": 1100, "input_tokens": 1000, "output_tokens": 100, "cached": 400, "models": {}},
        },
    )  # fmt: skip
    assert lines == [
        "I will look.",
        "Now",
        "Read /a/b.py (2 lines)",
        "$ ls  failed",
        "denied",
        "Loop detected",
        "1.0k tokens in (400 cached), 100 out",
    ]
    assert spending == Spending("g-1", 1000, 100, 400, None)


def test_copilot_events_are_read() -> None:
    def event(kind: str, **data: Any) -> dict[str, Any]:
        return {"type": kind, "id": "e", "timestamp": "t", "parentId": None, "data": data}

    lines, spending = read(
        "copilot",
        event("assistant.turn_start", turnId="0"),
        event("assistant.message", content="Looking.", toolRequests=[], outputTokens=20),
        event("tool.execution_start", toolCallId="c1", toolName="view", arguments={"path": "a.py"}),
        event("tool.execution_complete", toolCallId="c1", success=True, result={"content": "1\n2\n3"}),
        event("tool.execution_start", toolCallId="c2", toolName="bash", arguments={"command": "false"}),
        event("tool.execution_complete", toolCallId="c2", success=False, error={"message": "exit 1"}),
        event("session.error", errorType="rate_limit", errorCode="user_weekly_rate_limited", message="Wait."),
        {"type": "result", "sessionId": "c-9", "exitCode": 1, "usage": {"premiumRequests": 1}},
    )
    assert lines == [
        "Looking.",
        "Read a.py (3 lines)",
        "$ false  failed",
        "exit 1",
        "usage limit reached (user weekly rate limited)",
        "Wait.",
        "ended with an error",
        "20 tokens out",
    ]
    assert spending == Spending("c-9", None, 20, None, None)


def test_opencode_adds_up_its_steps() -> None:
    def event(kind: str, **part: Any) -> dict[str, Any]:
        return {"type": kind, "timestamp": 1, "sessionID": "ses_1", "part": {"type": kind, **part}}

    def finish() -> dict[str, Any]:
        tokens = {"input": 100, "output": 10, "reasoning": 5, "cache": {"read": 40, "write": 2}}
        return event("step_finish", cost=0.0125, tokens=tokens)

    state = {"status": "completed", "input": {"filePath": "/t/a.py", "oldString": "x", "newString": "y"}}
    failed = {"status": "error", "input": {"pattern": "z"}, "error": "no such folder"}
    lines, spending = read(
        "opencode",
        event("step_start"),
        event("tool_use", callID="1", tool="edit", state={**state, "output": "ok"}),
        event("tool_use", callID="2", tool="grep", state=failed),
        finish(),
        event("text", text="Done."),
        finish(),
        {"type": "error", "sessionID": "ses_1", "error": {"name": "APIError", "data": {"message": "Overloaded"}}},
    )
    assert lines == ["Edited /t/a.py  +1 −1", "Searched z  failed", "no such folder", "Done.", "Overloaded"]
    assert spending == Spending("ses_1", 284, 30, 80, 0.025)


def test_cursor_names_its_tools_by_a_field() -> None:
    def call(step: str, **tool: Any) -> dict[str, Any]:
        return {"type": "tool_call", "subtype": step, "call_id": "c1", "tool_call": tool, "session_id": "k"}

    read_call, shell_call = {"args": {"path": "a.py"}}, {"args": {"command": "make"}}
    lines, spending = read(
        "cursor-agent",
        {"type": "system", "subtype": "init", "session_id": "k", "model": "m", "cwd": "/x"},
        call("started", readToolCall=read_call),
        call("completed", readToolCall={**read_call, "result": {"success": {"content": "1\n2", "totalLines": 2}}}),
        call("started", shellToolCall=shell_call),
        call("completed", shellToolCall={**shell_call, "result": {"failure": {"stderr": "no rule", "exitCode": 2}}}),
        {"type": "result", "subtype": "success", "is_error": False, "result": "done", "session_id": "k"},
    )
    assert lines == ["Read a.py (2 lines)", "$ make  failed", "no rule", "done"]
    assert spending == Spending("k")


def test_messages_of_the_community_grok_are_read() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    lines, _ = read(
        "grok-community",
        {"role": "user", "content": "Do it"},
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "a.py"},
    )
    assert lines == ["I look.", "$ ls", "a.py"]


def test_every_preset_with_events_has_rules() -> None:
    without = {name for name in preset_names() if load_preset(name).stream is None}
    assert without == {name for name in preset_names() if load_preset(name).output == "text"}


# -- what no program should print ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        b"plain words\n",
        b"\n",
        b'{"type":"assistant"\n',
        b'{"type":"nobody.knows.it","text":"x"}\n',
        b'["type"]\n',
        b"{" * 3000 + b"\n",
        b'{"a":' * 3000 + b"1" + b"}" * 3000 + b"\n",
        b'{"type":"result","total_cost_usd":' + b"9" * 5000 + b"}\n",
        b"\xff\xfe{}\n",
        b"1\n",
    ],
)
def test_what_is_no_known_event_stays_as_it_is(line: bytes) -> None:
    assert press_of("claude").take(line) == (line, len(line))


@pytest.mark.parametrize("wrong", SHAPES)
@pytest.mark.parametrize("preset", sorted({"claude", "codex", "gemini", "copilot", "opencode", "cursor-agent"}))
def test_an_event_of_another_shape_says_nothing(preset: str, wrong: object) -> None:
    kinds = {rule.on for rule in dialect(preset).rules}
    for kind in kinds:
        kind, _, subtype = kind.partition("/")
        fields = ("message", "item", "data", "part", "tool_call", "usage", "stats", "error", "content", "result")
        event = {"type": kind, "subtype": subtype, **dict.fromkeys(fields, wrong)}
        text, taken = press_of(preset).take(as_lines([event]))
        assert taken, event
        assert len(text) < 400


LOGS = [json.loads(line.rstrip(",\n")) for line in CASES.read_text().splitlines() if line.startswith("{")]


@pytest.mark.parametrize("case", LOGS, ids=lambda case: case["id"])
def test_logs_from_the_wild_are_readable_in_every_dialect(case: dict[str, Any]) -> None:
    log = case["input"]["log_tail"]
    for preset in (name for name in preset_names() if load_preset(name).stream is not None):
        press = press_of(preset)
        text, taken = press.take(log.encode() + b"\n")
        assert taken == len(log.encode()) + 1
        assert len(text) <= 2 * len(log.encode()) + 400


def test_numbers_that_nobody_can_have_used_do_not_count() -> None:
    usage = {"input_tokens": -5, "output_tokens": True}
    end = b'{"type":"result","total_cost_usd":NaN,"usage":{"input_tokens":1e400,"output_tokens":1e300}}\n'
    press = press_of("claude")
    press.take(as_lines([claude_said("m", **usage)]) + end)
    assert press.page.tally.spending == Spending()


def test_hostile_text_gets_no_sequence_through() -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\u202e\ud800\x9b5n\rlast"
    lines, _ = read(
        "claude",
        claude_said("m", {"type": "text", "text": hostile}),
        claude_call("t", hostile, command=hostile, file_path=hostile),
        claude_gave("t", hostile),
        claude_call("u", hostile, url=hostile),
        {**CLAUDE_END, "is_error": True, "result": hostile},
    )
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800]", "".join(lines))


def test_a_result_of_any_length_makes_a_few_lines() -> None:
    huge = "x" * 5000 + "\n" + "line\n" * 20_000
    lines, _ = read("claude", claude_call("t", "Bash", command="yes"), claude_gave("t", huge))
    assert len(lines) < 30
    assert max(map(len, lines)) <= 2000
    assert "… 19981 more lines" in lines


@pytest.mark.parametrize("pieces", [1, 7, 4096, 1 << 20])
def test_the_text_does_not_depend_on_the_pieces(pieces: int) -> None:
    raw = (
        as_lines([CLAUDE_START, claude_call("t", "Read", file_path="a"), claude_gave("t", "1\n2")])
        + b"a warning \xe2\x80\xa6 between\n"
        + as_lines([claude_said("m", {"type": "text", "text": "z" * 300_000})])
        + b"w" * 300_000
        + b"\n"
        + as_lines([claude_call("u", "Bash", command="ls"), CLAUDE_END])
        + b"not ended"
    )
    whole = press_of("claude").take(raw)
    assert whole[1] == len(raw)
    if pieces < 4096:
        raw, whole = raw[:3000], press_of("claude").take(raw[:3000])
    press, made, at = press_of("claude"), b"", 0
    for end in range(pieces, len(raw) + pieces, pieces):
        text, taken = press.take(raw[at:end])
        made, at = made + text, at + taken
    assert (made, at) == whole
    assert pieces < 4096 or f"… an event of {LONGEST_EVENT // 1024 + 37} KiB".encode() in made


# -- rules and tools -------------------------------------------------------------------------------------------


def test_a_new_program_is_a_matter_of_rules() -> None:
    table = {
        "kind": ["kind"],
        "quiet": ["noise"],
        "events": [
            {"on": "talk", "fact": "said", "take": {"text": ["words", "text"]}},
            {"on": "do", "fact": "call", "take": {"input": "with"}, "put": {"tool": "shell"}},
            {"on": "bill", "fact": "usage", "take": {"input": "in + hidden", "cost": "usd"}},
        ],
    }
    press = Press(dialect_of(table), Page())
    events = [
        {"kind": "talk", "text": "Hello"},
        {"kind": "noise"},
        {"kind": "do", "with": {"command": "ls\nrm x"}},
        {"kind": "bill", "in": 3, "hidden": 4, "usd": 0.5},
    ]
    text, _ = press.take(as_lines(events))
    assert _COLOUR.sub("", text.decode()) == "Hello\n$ ls …"
    assert press.page.tally.spending == Spending(None, 7, None, None, 0.5)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"on": "x"}, "stream event 1: it needs `on` and a `fact`"),
        ({"on": "x", "fact": "sung"}, "a `fact` out of call, end"),
        ({"on": "x", "fact": "said", "take": {"txt": "a"}}, "a said has no txt"),
        ({"on": "x", "fact": "said", "each_one": "a"}, "a said has no each_one"),
        ({"on": "x", "fact": "said", "take": "text"}, "stream event 1: take is no table"),
        ({"on": "x", "fact": "said", "take": {"text": [3]}}, "text is neither a text nor a list of texts"),
        ({"on": 3, "fact": "said"}, "it needs `on`"),
        (3, "stream event 1 is no table"),
    ],
)
def test_a_wrong_rule_is_refused_with_its_place(rule: object, words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)):
        dialect_of({"events": [rule]})


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "subject"),
    [
        ("bash", {"command": ["bash", "-lc", "ls"]}, ToolKind.COMMAND, "bash -lc ls"),
        ("shell", {"command": '/bin/bash -lc "make test"'}, ToolKind.COMMAND, "make test"),
        ("str_replace_editor", {"command": "create", "path": "a", "file_text": "x\n"}, ToolKind.WRITE, "a"),
        ("apply_patch", "*** Begin Patch\n*** Update File: a.py\n+x\n-y\n", ToolKind.EDIT, "a.py"),
        ("delete_file", {"path": "a"}, ToolKind.DELETE, "a"),
        ("write_todos", {"todos": []}, ToolKind.OTHER, ""),
        ("Task", {"description": "Look around", "prompt": "…"}, ToolKind.OTHER, "Look around"),
        ("WebFetch", {"url": "https://example.invalid/"}, ToolKind.FETCH, "https://example.invalid/"),
        ("x", "{" * 2000, ToolKind.OTHER, ""),
        ("x", None, ToolKind.OTHER, ""),
    ],
)
def test_a_tool_is_known_by_what_it_is_given(name: str, arguments: object, kind: ToolKind, subject: str) -> None:
    tool = tool_of(name, arguments)
    assert (tool.kind, tool.subject) == (kind, subject)


def test_only_lines_that_changed_are_counted() -> None:
    assert changed_lines("a\nb\nc", "a\nx\ny\nc") == (2, 1)
    assert changed_lines("", "a\nb") == (2, 0)
    assert changed_lines("a\na", "a\na\na") == (1, 0)
    assert changed_lines("same", "same") == (0, 0)


def test_a_resumed_session_costs_what_was_added() -> None:
    def run(id_: int, session: str, cost: float | None) -> Run:
        return Run(id_, "main", "T-1", "ant", "o", id_, id_, RunState.SETTLED, session=session, cost_usd=cost)

    told = Spending("s", 10, 1, None, 0.9)
    assert since(told, [run(1, "s", 0.25), run(2, "s", None), run(3, "t", 0.5), run(4, "s", 0.25)]).cost_usd == 0.4
    assert since(told, [run(1, "t", 0.5)]) == told
    assert since(told, [run(1, "s", 2.0)]).cost_usd == 0.0
    assert since(Spending("s"), [run(1, "s", 2.0)]) == Spending("s")
    assert [dialect(name).cost_of_session for name in ("claude", "amp", "grok", "codex")] == [
        True,
        True,
        False,
        False,
    ]


def test_prices_and_tokens_are_short() -> None:
    assert [dollars(price) for price in (None, 0.001, 0.414, 12.0)] == ["", "<$0.01", "$0.41", "$12.00"]
    assert spending_words(Spending(input_tokens=1_500_000, output_tokens=999)) == "1.5M tokens in, 999 out"
    assert spending_words(Spending("s")) == ""
