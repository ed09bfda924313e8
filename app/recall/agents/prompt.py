"""What an agent is told: its task, what came before, the rules, and how to report."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from recall.domain.frozen import frozen
from recall.domain.task import Task, TaskRef
from recall.domain.text import clean, clean_line
from recall.domain.work import Handover

_ESSENCE = 1200

#: An argument of a program may hold 128 KiB on Linux, and the prompt is one for some agents.
_MOST_DIFF = 24_000


#: What a task speaks of that acts outside, where a second run would do it a second time.
_OUTSIDE = re.compile(
    r"\b(publish|deploy|upload|releas(e|ing)\b|announc|e-?mails?\b|notify|webhook|invoice|refund|payment|"
    r"send (it|them|an?|the)\b)",
    re.IGNORECASE,
)


@frozen
class Attempt:
    """An earlier run of the same task: how it came out and why."""

    number: int
    agent: str
    result: str
    reason: str


@frozen
class Answer:
    """What an earlier run asked, and what a person said to it."""

    agent: str
    question: str
    answer: str


@frozen
class Stop:
    """Where this run goes on: an earlier one of the same agent stopped here, for `reason`, or with a question that
    is `answered` now. `in_session`: the agent remembers all of it."""

    reason: str
    answered: bool = False
    in_session: bool = False


@frozen
class Briefing:
    """Everything around the task. `program` is the argv that starts the `recall` command, `slot` the run's
    slot folder, both absolute. `group` is the task's parent, `done` its prerequisites' titles, `answers` the
    questions of earlier runs, oldest first. `stopped` is set for a run that goes on in its own workspace, `handover`
    for one that starts afresh what another had to leave. `verify` is the command that decides whether the work lands,
    `protected` the files that are taken out of its commits. `receipts`: it can reach the store, and so keep them."""

    program: tuple[str, ...]
    slot: Path
    main: str = "main"
    verify: str | None = None
    group: Task | None = None
    done: Sequence[tuple[TaskRef, str]] = ()
    earlier: Sequence[Attempt] = ()
    answers: Sequence[Answer] = ()
    stopped: Stop | None = None
    handover: Handover | None = None
    protected: Sequence[str] = ("TASKS.md", "recall.toml")
    receipts: bool = False


def build_prompt(task: Task, briefing: Briefing) -> str:
    """Give the whole prompt as Markdown, ending in a line feed."""
    known = briefing.stopped is not None and briefing.stopped.in_session
    about = [clean(task.body).strip(), _group(briefing.group), _done(briefing.done)]
    parts = [
        f"# Task {task.ref}: {clean_line(task.title)}",
        *([] if known else about),
        _answers(briefing.answers),
        "" if briefing.stopped else _earlier(briefing.earlier),
        _sent_back(task.brief),
        _goes_on(briefing.stopped),
        _handed_over(briefing.handover),
        _rules(task, briefing),
        _reporting(task, briefing),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _group(group: Task | None) -> str:
    if group is None:
        return ""
    return "\n\n".join(
        filter(None, (f"## Part of {group.ref}: {clean_line(group.title)}", clean(group.body).strip()))
    )


def _done(done: Sequence[tuple[TaskRef, str]]) -> str:
    lines = [f"- {ref}: {clean_line(title)}" for ref, title in done]
    return "\n".join(["## Already done, and part of your workspace", "", *lines]) if lines else ""


def _answers(answers: Sequence[Answer]) -> str:
    """Questions and answers in full: a person's word counts for every later attempt."""
    if not answers:
        return ""
    parts = ["## Asked before, and answered"]
    for one in answers:
        parts += [f"{clean_line(one.agent)} asked:", _quoted(one.question), "The answer, which holds for you too:"]
        parts.append(_quoted(one.answer))
    return "\n\n".join(parts)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in clean(text).strip().splitlines())


def _earlier(earlier: Sequence[Attempt]) -> str:
    """Every earlier attempt in a line, the last one's reason in full: that is the one to do better than."""
    if not earlier:
        return ""
    lines = [f"- attempt {one.number} ({clean_line(one.agent)}): {one.result}" for one in earlier]
    quoted = _quoted(clean(earlier[-1].reason).strip()[-_ESSENCE:])
    last = ["", "The last one ended because:", "", quoted] if quoted else []
    return "\n".join(["## Earlier attempts", "", *lines, *last, "", "You start afresh; do not repeat their mistake."])


def _sent_back(brief: str) -> str:
    return f"## What the earlier work met\n\n{clean(brief).strip()}" if brief.strip() else ""


def _goes_on(stopped: Stop | None) -> str:
    if stopped is None:
        return ""
    why = "asked, and have the answer now" if stopped.answered else "were stopped"
    parts = [f"## You go on where you {why}"]
    if not stopped.answered:
        parts += ["What stopped you:", _quoted(stopped.reason[-_ESSENCE:])]
    parts.append(
        "This is the workspace that you worked in, as you left it, with your commits and your uncommitted files. "
        "Look at `git status` and `git log` first, then finish the task."
    )
    return "\n\n".join(parts)


def _handed_over(handover: Handover | None) -> str:
    """What another agent left, as text: a fresh workspace does not have it."""
    if handover is None:
        return ""
    parts = [
        "## Begun before, and left",
        f"{clean_line(handover.agent)} worked on this task and had to stop:",
        _quoted(handover.reason[-_ESSENCE:]),
    ]
    diff = clean(handover.diff).strip("\n")
    if not diff:
        return "\n\n".join([*parts, "There is no diff of its work."])
    shown = diff[:_MOST_DIFF]
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", shown)), default=0))
    parts += [
        "These are its changes. Your workspace does not have them: it is main as it is now. Nobody verified them; "
        "take over what is good.",
        f"{fence}diff\n{shown}\n{fence}",
    ]
    if len(diff) > len(shown):
        parts.append(f"The diff goes on for another {len(diff) - len(shown)} characters, left out here.")
    return "\n\n".join(parts)


def _rules(task: Task, briefing: Briefing) -> str:
    rules = [
        "- Work in the current folder only. It is a git workspace of your own, on a branch of its own.",
        "- Commit your work, or just leave the files: what is not committed is committed for you.",
        f"- Do not switch branches, push, or touch {briefing.main}. Landing is done for you, after verification.",
        f"- Do not edit {', '.join(briefing.protected)}: such changes are taken out.",
        "- Nobody can answer questions while you work, and there is no terminal. To ask, use the command below.",
    ]
    if briefing.verify:
        rules.append(f"- Your work lands only if this passes: `{briefing.verify}`. Run it before you report.")
    if briefing.receipts and _OUTSIDE.search(f"{task.title}\n{task.body}"):
        effect = f"{shlex.join(briefing.program)} effect run {task.ref}:WHAT:v1 -- COMMAND"
        rules.append(
            f"- What you change outside (publish, send, deploy), change by `{effect}`, with a word of your own for "
            "WHAT: it happens once, even if another run has done it already or takes over from you."
        )
    return "\n".join(["## Rules", "", *rules])


def _reporting(task: Task, briefing: Briefing) -> str:
    program, slot = shlex.join(briefing.program), shlex.quote(str(briefing.slot))
    outcome = f"{program} outcome --slot {slot}"
    return "\n".join(
        [
            "## When you are done",
            "",
            f"Report on {task.ref} with exactly one of these, then end. Without a report the work does not count.",
            "",
            "```sh",
            f'{outcome} --result success --summary "what you did"',
            f'{outcome} --result failure --summary "what stopped you"',
            f'{program} ask --slot {slot} "your question"',
            "```",
            "",
            "While a long command runs without any output, this says that you still work:",
            "",
            "```sh",
            f"{program} heartbeat --slot {slot}",
            "```",
        ]
    )
