"""Every user action, once: its key, its words, when it makes no sense, and what it does to the store.

Bindings, palette, help and docs/KEYS.md are made from this table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recall.domain.agent import Agent
from recall.domain.intervention import Wish, why_no_answer, why_not
from recall.domain.merge import MergeEntry, MergeState, Shift
from recall.domain.overview import Overview
from recall.domain.run import Refused, Run, RunState
from recall.domain.task import Task, TaskRef, TaskState
from recall.engine import interventions
from recall.engine.ports import Store

ACTOR = "person"


@dataclass(frozen=True, slots=True)
class Context:
    """What is selected, and the store as it is now."""

    overview: Overview
    task: Task | None = None
    agent: Agent | None = None
    entry: MergeEntry | None = None
    run: Run | None = None


Why = Callable[[Context], str]
Act = Callable[[Store, Context], Refused | None]


def always(_: Context) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Command:
    """`key` is as Textual writes it and `shown` as people read it. `unavailable` gives the reason why it makes no
    sense now, or "". `act` is one store transaction; a command without one is a matter of the screen alone.
    `confirm` is asked before it is carried out."""

    id: str
    key: str
    area: str
    title: str
    help: str
    shown: str = ""
    unavailable: Why = always
    act: Act | None = None
    confirm: str = ""

    @property
    def key_name(self) -> str:
        return self.shown or self.key


def _task_wish(wish: Wish) -> Why:
    def why(context: Context) -> str:
        if context.task is None:
            return "select a task first"
        return why_not(wish, context.task, context.entry.state if context.entry else None)

    return why


def _a_task(context: Context) -> str:
    return "" if context.task is not None else "select a task first"


def _agent(context: Context) -> str:
    return "" if context.agent is not None else "select an agent first"


def _cooling(context: Context) -> str:
    if context.agent is None:
        return "select an agent first"
    cooling = context.agent.cooling_until
    return (
        "" if cooling is not None and cooling > context.overview.now else f"{context.agent.name} is not cooling down"
    )


def _entry(context: Context) -> str:
    return "" if context.entry is not None else "the selected task is not in the merge queue"


def _question(context: Context) -> str:
    return why_no_answer(context.task, context.run) if context.task is not None else "select a task first"


def _conflict(context: Context) -> str:
    conflict = context.entry is not None and context.entry.state is MergeState.CONFLICT
    return "" if conflict else "the selected task has no conflict"


def _log(context: Context) -> str:
    return "" if context.run is not None else "the selected task has no run yet"


def _workspace(context: Context) -> str:
    run = context.run
    if run is None or run.slot is None or run.state is RunState.SETTLED:
        return "the selected task has no workspace at the moment"
    return ""


def _requeue(store: Store, context: Context) -> Refused | None:
    return interventions.requeue(store, _ref(context), actor=ACTOR)


def _hold(store: Store, context: Context) -> Refused | None:
    task = store.task(_ref(context))
    if task is not None and task.state is TaskState.ON_HOLD:
        return interventions.unhold(store, task.ref, actor=ACTOR)
    return interventions.hold(store, _ref(context), actor=ACTOR, reason="put on hold by you")


def _hold_why(context: Context) -> str:
    if context.task is not None and context.task.state is TaskState.ON_HOLD:
        return ""
    return _task_wish(Wish.HOLD)(context)


def _cancel(store: Store, context: Context) -> Refused | None:
    return interventions.cancel(store, _ref(context), actor=ACTOR, reason="cancelled by you")


def _raise(store: Store, context: Context) -> Refused | None:
    return _prioritize(store, context, 1)


def _lower(store: Store, context: Context) -> Refused | None:
    return _prioritize(store, context, -1)


def _prioritize(store: Store, context: Context, by: int) -> Refused | None:
    task = store.task(_ref(context))
    return interventions.prioritize(store, _ref(context), (task.priority if task else 0) + by, actor=ACTOR)


def _pause_agent(store: Store, context: Context) -> Refused | None:
    agent = context.agent
    if agent is None:
        return Refused("select an agent first")
    if agent.paused or agent.stopped_reason:
        return interventions.resume_agent(store, agent.name, actor=ACTOR)
    return interventions.pause_agent(store, agent.name, actor=ACTOR, reason="paused by you")


def _lift(store: Store, context: Context) -> Refused | None:
    return interventions.lift_cooldown(store, context.agent.name if context.agent else "", actor=ACTOR)


def _pause_all(store: Store, context: Context) -> Refused | None:
    if context.overview.snapshot.dispatching:
        return interventions.pause_dispatching(store, actor=ACTOR, reason="paused by you")
    return interventions.resume_dispatching(store, actor=ACTOR)


def _release_queue(store: Store, _: Context) -> Refused | None:
    return interventions.release_queue(store, actor=ACTOR)


def _queue_held(context: Context) -> str:
    return "" if context.overview.queue_held else "the merge queue is not held"


def _up(store: Store, context: Context) -> Refused | None:
    return interventions.move_merge(store, _ref(context), Shift.UP, actor=ACTOR)


def _down(store: Store, context: Context) -> Refused | None:
    return interventions.move_merge(store, _ref(context), Shift.DOWN, actor=ACTOR)


def _skip(store: Store, context: Context) -> Refused | None:
    return interventions.skip_merge(store, _ref(context), actor=ACTOR)


def _retry(store: Store, context: Context) -> Refused | None:
    return interventions.retry_merge(store, _ref(context), actor=ACTOR)


def _ref(context: Context) -> TaskRef:
    if context.task is None:
        raise LookupError("a command for a task was run without one")
    return context.task.ref


COMMANDS: tuple[Command, ...] = (
    Command("open", "enter", "look", "open", "Open the selected task, run or entry."),
    Command("next-need", "n", "look", "next that needs you", "Jump to the next thing that waits for a person."),
    Command("filter", "slash", "look", "filter", "Show only tasks whose id or title holds a text.", shown="/"),
    Command("view", "v", "look", "switch view", "Tasks by state, or as a tree of prerequisites."),
    Command("zoom", "z", "look", "zoom", "Give the pane in focus the whole screen, or take it back."),
    Command("follow", "f", "look", "follow log", "Stay at the end of the log."),
    Command("log", "l", "look", "log", "Read the whole log of the selected task's run.", unavailable=_log),
    Command("diff", "d", "look", "diff", "See what the selected task's run changed.", unavailable=_log),
    Command("history", "y", "look", "history", "Read everything that happened, newest first; / searches."),
    Command("agents", "A", "look", "agents' record", "See how each agent's runs came out, and its weights."),
    Command("settings", "comma", "look", "settings", "Read every setting and where it comes from.", shown=","),
    Command(
        "requeue", "r", "task", "requeue", "Start the task again with all its attempts.",
        unavailable=_task_wish(Wish.REQUEUE), act=_requeue,
    ),
    Command(
        "hold", "H", "task", "hold / release", "Keep the task from being started, or let it go on.",
        unavailable=_hold_why, act=_hold,
    ),
    Command(
        "cancel", "X", "task", "cancel", "Give the task up.", unavailable=_task_wish(Wish.CANCEL), act=_cancel,
        confirm="Cancel {task}? Its agent is stopped; its work is kept under refs/recall/parked.",
    ),
    Command("raise", "plus", "task", "priority up", "Raise the task's priority.", shown="+",
            unavailable=_a_task, act=_raise),
    Command("lower", "minus", "task", "priority down", "Lower the task's priority.", shown="-",
            unavailable=_a_task, act=_lower),
    Command("answer", "a", "task", "answer", "Answer the question that the task waits with.", unavailable=_question),
    Command("conflict", "c", "task", "resolve conflict", "Open the conflict workbench.", unavailable=_conflict),
    Command("send-back", "s", "task", "send back", "Let an agent do a task in conflict again, told of both sides.",
            unavailable=_conflict),
    Command("start-over", "u", "task", "start over", "Do a task in conflict again from main as it is.",
            unavailable=_conflict, confirm="Start {task} over from main as it is? Its work is kept aside."),
    Command("pause-agent", "p", "agent", "pause / resume agent",
            "Let the selected agent start nothing new, or go on.", unavailable=_agent, act=_pause_agent),
    Command("lift", "L", "agent", "lift cooldown", "End the selected agent's cooldown now.",
            unavailable=_cooling, act=_lift),
    Command("pause", "P", "all", "pause / resume all", "Start nothing new at all, or go on.", act=_pause_all),
    Command("release-queue", "M", "queue", "accept main", "Let a queue go on that a rewritten main holds.",
            unavailable=_queue_held, act=_release_queue,
            confirm="Go on from main as it is now? The queue was held because main was rewritten."),
    Command("retry", "m", "queue", "retry merge", "Try at once what waits for your checkout or a green main.",
            unavailable=_entry, act=_retry),
    Command("merge-up", "left_square_bracket", "queue", "earlier", "Move the task's entry up in the merge queue.",
            shown="[", unavailable=_entry, act=_up),
    Command("merge-down", "right_square_bracket", "queue", "later", "Move the task's entry down in the merge queue.",
            shown="]", unavailable=_entry, act=_down),
    Command("skip", "S", "queue", "skip", "Put the task's entry behind all others.", unavailable=_entry, act=_skip),
    Command("shell", "exclamation_mark", "tools", "shell", "Open a shell in the run's workspace.", shown="!",
            unavailable=_workspace),
    Command("edit", "e", "tools", "edit tasks", "Edit the task list in $EDITOR; it is read again afterwards."),
    Command("trust", "C", "tools", "confirm commands", "Confirm the commands that Recall may run.",
            unavailable=lambda context: "" if context.overview.dispatch_held else "nothing waits to be confirmed",
            confirm="Confirm the commands in recall.toml and the tasks' verify commands as they are now?"),
    Command("engine", "E", "all", "take over", "Become the dispatcher when no other process is."),
    Command("theme", "T", "screen", "theme", "Next theme."),
    Command("help", "question_mark", "screen", "help", "Every key.", shown="?"),
    Command("quit", "q", "screen", "quit", "Leave; what happens to running agents is asked."),
)  # fmt: skip

#: The conflict workbench's own keys.
BENCH_COMMANDS: tuple[Command, ...] = (
    Command("take-main", "1", "conflict", "main", "Take main's lines for this hunk, or main's file."),
    Command("take-task", "2", "conflict", "task", "Take the task's lines, or the task's file."),
    Command("take-both", "3", "conflict", "both", "Take main's lines and the task's below them."),
    Command("edit-hunk", "e", "conflict", "edit", "Write what is to stand in the hunk's place."),
    Command("next-hunk", "j", "conflict", "next hunk", "Go to the next hunk."),
    Command("previous-hunk", "k", "conflict", "previous hunk", "Go to the previous hunk."),
    Command("next-file", "J", "conflict", "next file", "Go to the next file."),
    Command("previous-file", "K", "conflict", "previous file", "Go to the previous file."),
    Command("accept", "a", "conflict", "accept", "Verify what was decided, then land it."),
    Command("bench-send-back", "s", "conflict", "send back", "Let an agent do the task again, told of both sides."),
    Command("bench-start-over", "u", "conflict", "start over", "Do the task again from main as it is."),
    Command("give-up", "X", "conflict", "give up", "Cancel the task; its work is kept."),
    Command("bench-leave", "escape", "conflict", "leave", "Leave it as it is; nothing is decided.", shown="esc"),
)

BY_ID = {command.id: command for command in COMMANDS}
