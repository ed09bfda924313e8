"""What reading a finished run for usage limits costs, and whether it ever takes talk about limits for a limit.

Logs without any limit are generated, 100 MB of them: code, tests, prose, lists and tool output that are *about*
limits, plain and as events of several agents, from the same words that real limits are told in. Each is read as a run
that failed, and as one that ended with exit code 0, both without a report. `false alarms` counts what was taken for a
limit, out of credit or a missing sign-in (goal: 0). `found` is the share of logs that end in a real limit and were
taken for one (goal: 1): a reader that sees nothing raises no alarm either. `ms a run` is what a run's end costs, with
reading its transcript from the disk (median, 99 of 100, worst; goal: a median of 5 or less).

usage: python -m benchmarks.limits [--megabytes 100] [--seed 1] [--folder DIR] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Generator
from dataclasses import asdict
from pathlib import Path

from recall.agents.transcript import Transcript
from recall.domain.frozen import frozen
from recall.domain.limits import TAIL_LINES, read_run
from recall.domain.usage import LimitClass, LimitFinding, LimitPatterns

GOAL_MS = 5.0
_NOW = 1_772_000_000.0
_LOG_BYTES, _SHARES = (3_000, 10_000, 30_000, 1_000_000), (50, 30, 15, 1)
_MEGABYTE = 1_000_000
_ALARMS = frozenset({LimitClass.LIMIT, LimitClass.CREDIT, LimitClass.AUTH})

_SAYINGS = (
    "usage limit reached", "You've hit your session limit · resets 3:45pm", "429 Too Many Requests",
    "insufficient_quota", "Credit balance is too low", "rate limit exceeded", "Please run /login",
    "quota exceeded, try again in 5 hours", "invalid x-api-key", "RESOURCE_EXHAUSTED", "overloaded_error",
)  # fmt: skip
_ABOUT = (
    "  assert classify({saying!r}) is Limit.USED_UP",
    "tests/test_limits.py::test_case_{number} PASSED",
    "+    if {saying!r} in line: return wait_until(reset)",
    "-    raise RateLimited({saying!r})",
    "{number}: // shown when the server says {saying}",
    'I added a test for the message "{saying}" and it passes now.',
    "The handler returns early when the provider answers {saying!r}.",
    '  - [x] handle "{saying}" (see docs/limits.md)',
    "| {number} | `{saying}` | waits for the reset |",
    "> {saying}",
    'const MESSAGES = ["{saying}"];  // {number}',
    "src/limits.py:{number}: note: pattern {saying!r} is never used",
    'README: clients that are told "{saying}" should back off.',
    "Let me look at how the code handles {saying!r} in src/client_{number}.py.",
    'def test_{number}_is_told_from_prose(): assert not is_limit("docs say {saying}")',
)
_PLAIN = (
    "building target {number} of 900",
    "Reading src/module_{number}.py",
    "changed 3 files, 41 insertions(+), 7 deletions(-)",
    "ok {number} - adds two numbers",
    "E       AssertionError: expected {number}, found 7",
    "warning: unused variable `left` in crate::m{number}",
)
_LAST = (
    "I could not finish the task: {number} tests still fail.",
    "E       assert {number} == 7",
    "FAILED tests/test_limits.py::test_case_{number} - AssertionError: {saying!r} was not detected",
    "fatal: could not read tests/fixtures/{number}.txt",
    'Done. The banner "{saying}" is handled in src/limits.py.',
)
_REAL = (
    "Error: usage limit reached, try again in 3 hours",
    "You've hit your session limit · resets 3:45pm",
    '{"type":"error","message":"You\'ve hit your usage limit. Try again in 2 hours."}',
    '{"type":"result","subtype":"success","is_error":true,"result":"You\'ve hit your limit · resets 5pm (UTC)"}',
)

Wrap = Callable[[str], str]


def _text(line: str) -> str:
    return line


def _assistant(line: str) -> str:
    return json.dumps({"type": "assistant", "message": {"content": [{"type": "text", "text": line}]}})


def _tool_result(line: str) -> str:
    content = [{"type": "tool_result", "tool_use_id": "t", "content": line}]
    return json.dumps({"type": "user", "message": {"role": "user", "content": content}})


def _command(line: str) -> str:
    item = {
        "id": "item_1",
        "type": "command_execution",
        "command": "pytest",
        "aggregated_output": line,
        "exit_code": 1,
    }
    return json.dumps({"type": "item.completed", "item": item})


def _part(line: str) -> str:
    return json.dumps({"type": "text", "sessionID": "ses_1", "part": {"type": "text", "text": line}})


_WRAPS: tuple[Wrap, ...] = (_text, _text, _assistant, _tool_result, _command, _part)


@frozen
class Measured:
    """What came out. Times are milliseconds for one finished run."""

    megabytes: float
    runs: int
    false_alarms: int
    found: float
    median_ms: float
    slow_ms: float
    worst_ms: float
    examples: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return not self.false_alarms and self.found == 1.0 and self.median_ms <= GOAL_MS


def harmless(rng: random.Random, size: int) -> str:
    """Give the log of a run that met no limit, whatever it talks about."""
    wrap, lines, length = rng.choice(_WRAPS), list[str](), 0
    while length < size:
        line = wrap(_filled(rng, rng.choice(_ABOUT if rng.random() < 0.7 else _PLAIN)))
        lines.append(line)
        length += len(line) + 1
    lines.append(wrap(_filled(rng, rng.choice(_LAST))))
    return "\n".join(lines) + "\n"


def _filled(rng: random.Random, form: str) -> str:
    return form.format(saying=rng.choice(_SAYINGS), number=rng.randrange(1, 1000))


def logs(megabytes: float, seed: int) -> Generator[str]:
    rng, left = random.Random(seed), megabytes * _MEGABYTE
    while left > 0:
        log = harmless(rng, min(rng.choices(_LOG_BYTES, _SHARES)[0], int(left)))
        left -= len(log)
        yield log


def read(folder: Path, exit_code: int) -> tuple[LimitFinding, float]:
    """Read a run's end as the engine does; gives what was found and the milliseconds it took."""
    begun = time.perf_counter()
    tail = Transcript(folder).tail(TAIL_LINES).decode("utf-8", "replace")
    found = read_run(tail, exit_code=exit_code, report=None, now=_NOW, tz="UTC", patterns=LimitPatterns())
    return found, (time.perf_counter() - begun) * 1000


def measure(folder: Path, megabytes: float, seed: int) -> Measured:
    times, alarms, examples, runs, found, size = list[float](), 0, list[str](), 0, 0, 0
    for log in logs(megabytes, seed):
        (folder / "transcript").write_text(log)
        size, runs = size + len(log), runs + 1
        for exit_code in (1, 0):
            finding, took = read(folder, exit_code)
            times.append(took)
            if finding.kind in _ALARMS or finding.limited:
                alarms += 1
                examples.append(f"{finding.kind}: {finding.matched}")
        (folder / "transcript").write_text(f"{log}{_REAL[runs % len(_REAL)]}\n")
        finding, took = read(folder, 1)
        times.append(took)
        found += finding.kind is LimitClass.LIMIT and finding.limited
    return Measured(
        size / _MEGABYTE,
        runs,
        alarms,
        found / runs,
        statistics.median(times),
        statistics.quantiles(times, n=100)[-1],
        max(times),
        tuple(examples[:5]),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=100.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where the logs are written, one after another")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        measured = measure(Path(folder), chosen.megabytes, chosen.seed)
    if chosen.json:
        print(json.dumps(asdict(measured) | {"holds": measured.holds}))
    else:
        print(
            f"{measured.megabytes:.0f} MB in {measured.runs} logs: {measured.false_alarms} false alarms (goal: 0), "
            f"{measured.found:.0%} of real limits found, {measured.median_ms:.2f} ms a run "
            f"(99 of 100: {measured.slow_ms:.2f}, worst {measured.worst_ms:.1f}, goal: {GOAL_MS:.0f} or less)"
        )
        for example in measured.examples:
            print(f"  taken for a limit: {example}")
    raise SystemExit(0 if measured.holds else 1)


if __name__ == "__main__":
    main()
