"""Every user action, once: its key, its words, when it makes no sense, and what it does to the store.

Bindings, palette, help and docs/KEYS.md are made from this table. The reasons are in `reasons`, the transactions in
`wishes`; a command without a transaction is carried out by `acts`, or by the main screen itself.
"""

from __future__ import annotations

from recall.domain.frozen import frozen
from recall.domain.intervention import Wish
from recall.domain.merge import Shift
from recall.ui import questions, reasons, wishes
from recall.ui.questions import Question
from recall.ui.reasons import Why
from recall.ui.wishes import Act


@frozen
class Command:
    """`key` is as Textual writes it and `shown` as people read it. `unavailable` gives the reason why it makes no
    sense now, or "". `act` is one store transaction; a command without one is a matter of the screen alone.
    `confirm` gives what is asked before it is carried out, or ""."""

    id: str
    key: str
    area: str
    title: str
    help: str
    shown: str = ""
    unavailable: Why = reasons.never
    act: Act | None = None
    confirm: Question = questions.none

    @property
    def key_name(self) -> str:
        return self.shown or self.key


COMMANDS: tuple[Command, ...] = (
    Command("open", "enter", "look", "open", "Open the selected task, run or entry."),
    Command("next-need", "n", "look", "next that needs you", "Jump to the next thing that waits for a person."),
    Command("filter", "slash", "look", "filter", "Show only tasks whose id or title holds a text.", shown="/"),
    Command("view", "v", "look", "switch view", "Tasks as a list by state, as columns, or as a tree."),
    Command("zoom", "z", "look", "zoom", "Give the pane in focus the whole screen, or take it back."),
    Command("pane-wider", "greater_than_sign", "look", "wider", "Make the pane in focus wider.", shown=">"),
    Command("pane-narrower", "less_than_sign", "look", "narrower", "Make the pane in focus narrower.", shown="<"),
    Command("pane-higher", "right_curly_bracket", "look", "higher", "Make the pane in focus higher.", shown="}"),
    Command("pane-lower", "left_curly_bracket", "look", "less high", "Make the pane in focus less high.", shown="{"),
    Command("pane-reset", "equals_sign", "look", "panes as at first", "Give the panes their first sizes.", shown="="),
    Command("follow", "f", "look", "follow log", "Stay at the end of the log."),
    Command("raw", "x", "look", "raw log", "Show the log as the agent put it out, or what its events say.",
            unavailable=reasons.no_run),
    Command("log", "l", "look", "log", "Read the whole log of the selected task's run.", unavailable=reasons.no_run),
    Command("diff", "d", "look", "diff", "See what the selected task's run changed.", unavailable=reasons.no_run),
    Command("history", "y", "look", "history", "Read everything that happened, newest first; / searches."),
    Command("report", "w", "look", "report", "Read what happened since you were last here, or in the last 24 hours."),
    Command("timeline", "t", "look", "timeline", "See the runs of each agent in time, and how much landed when."),
    Command("office", "O", "look", "office", "See the agents at their desks, and act on the run of one."),
    Command("agents", "A", "look", "agents' record", "See how each agent's runs came out, and its weights."),
    Command("settings", "comma", "look", "settings", "Read every setting and where it comes from.", shown=","),
    Command(
        "requeue", "r", "task", "requeue", "Start the task again with all its attempts.",
        unavailable=reasons.not_for_task(Wish.REQUEUE), act=wishes.requeue, confirm=questions.to_requeue,
    ),
    Command(
        "hold", "H", "task", "hold / release", "Keep the task from being started, or let it go on.",
        unavailable=reasons.not_to_hold, act=wishes.hold, confirm=questions.to_hold,
    ),
    Command(
        "cancel", "X", "task", "cancel", "Give the task up.",
        unavailable=reasons.not_for_task(Wish.CANCEL), act=wishes.cancel,
        confirm=questions.to_cancel,
    ),
    Command("stop-run", "K", "task", "stop run", "Stop the task's run without giving the task up.",
            unavailable=reasons.no_live_run),
    Command("raise", "plus", "task", "priority up", "Raise the task's priority.", shown="+",
            unavailable=reasons.no_task, act=wishes.prioritize(1)),
    Command("lower", "minus", "task", "priority down", "Lower the task's priority.", shown="-",
            unavailable=reasons.no_task, act=wishes.prioritize(-1)),
    Command("answer", "a", "task", "answer", "Answer the question that the task waits with.",
            unavailable=reasons.no_question),
    Command("conflict", "c", "task", "resolve conflict", "Open the conflict workbench.",
            unavailable=reasons.no_conflict),
    Command("send-back", "s", "task", "send back", "Let an agent do a task in conflict again, told of both sides.",
            unavailable=reasons.no_conflict),
    Command("start-over", "u", "task", "start over", "Do a task in conflict again from main as it is.",
            unavailable=reasons.no_conflict,
            confirm=questions.words("Start {task} over from main as it is? Its work is kept aside.")),
    Command("pause-agent", "p", "agent", "pause / resume agent",
            "Let the selected agent start nothing new, or go on.",
        unavailable=reasons.no_agent, act=wishes.pause_agent),
    Command("lift", "L", "agent", "lift cooldown", "End the selected agent's cooldown now.",
            unavailable=reasons.not_cooling, act=wishes.lift_cooldown),
    Command("enable-agent", "D", "agent", "enable / disable agent",
            "Let the selected agent start tasks or not, whatever recall.toml says.",
            unavailable=reasons.no_agent, act=wishes.enable_agent),
    Command("more-parallel", "right_parenthesis", "agent", "more at once", shown=")",
            help="Let the selected agent run one task more at once.",
            unavailable=reasons.no_agent, act=wishes.run_parallel(1)),
    Command("less-parallel", "left_parenthesis", "agent", "fewer at once", shown="(",
            help="Let the selected agent run one task less at once.",
            unavailable=reasons.no_agent, act=wishes.run_parallel(-1)),
    Command("reset-agent", "R", "agent", "reset agent", "Do with the selected agent as recall.toml says again.",
            unavailable=reasons.not_chosen, act=wishes.reset_agent),
    Command("pause", "P", "all", "pause / resume all", "Start nothing new at all, or go on.", act=wishes.pause_all),
    Command("release-queue", "M", "queue", "accept main", "Let a queue go on that a rewritten main holds.",
            unavailable=reasons.queue_not_held, act=wishes.release_queue,
            confirm=questions.words("Go on from main as it is now? The queue was held because main was rewritten.")),
    Command("retry", "m", "queue", "retry merge", "Try at once what waits for your checkout or a green main.",
            unavailable=reasons.no_entry, act=wishes.retry_merge),
    Command("merge-up", "left_square_bracket", "queue", "earlier", "Move the task's entry up in the merge queue.",
            shown="[", unavailable=reasons.no_entry, act=wishes.move_merge(Shift.UP)),
    Command("merge-down", "right_square_bracket", "queue", "later", "Move the task's entry down in the merge queue.",
            shown="]", unavailable=reasons.no_entry, act=wishes.move_merge(Shift.DOWN)),
    Command("skip", "S", "queue", "skip", "Put the task's entry behind all others.",
            unavailable=reasons.no_entry, act=wishes.skip_merge),
    Command("shell", "exclamation_mark", "tools", "shell", "Open a shell in the run's workspace.", shown="!",
            unavailable=reasons.no_workspace),
    Command("editor", "o", "tools", "editor", "Open $EDITOR in the run's workspace.",
            unavailable=reasons.no_workspace),
    Command("edit", "e", "tools", "edit tasks", "Edit the task list in $EDITOR; it is read again afterwards."),
    Command("trust", "C", "tools", "confirm commands", "Read the commands that changed, and let Recall run them.",
            unavailable=reasons.nothing_to_confirm),
    Command("engine", "E", "all", "take over", "Become the dispatcher when no other process is."),
    Command("theme", "T", "screen", "theme", "Choose a theme; it is shown while you choose."),
    Command("palette", "colon", "screen", "palette", "Find a command by its name.", shown=":"),
    Command("help", "question_mark", "screen", "help", "Every key.", shown="?"),
    Command("quit", "q", "screen", "quit", "Leave; what happens to running agents is asked."),
)  # fmt: skip

#: The conflict workbench's own keys.
BENCH_COMMANDS: tuple[Command, ...] = (
    Command("accept", "a", "conflict", "accept", "Verify what was decided, then land it."),
    Command("take-remembered", "4", "conflict", "as before", "Resolve it as the same lines were resolved before."),
    Command("take-main", "1", "conflict", "main", "Take main's lines for this hunk, or main's file."),
    Command("take-task", "2", "conflict", "task", "Take the task's lines, or the task's file."),
    Command("take-both", "3", "conflict", "both", "Take main's lines and the task's below them."),
    Command("edit-hunk", "e", "conflict", "edit", "Write what is to stand in the hunk's place."),
    Command("delete-file", "x", "conflict", "delete", "Let the file go, whichever side has it."),
    Command("undecide", "0", "conflict", "undo", "Have it undecided again, or refuse what is remembered."),
    Command("look-again", "R", "conflict", "look again", "See the conflict as it is now; what still fits is kept."),
    Command("next-hunk", "j", "conflict", "next hunk", "Go to the next hunk."),
    Command("previous-hunk", "k", "conflict", "previous hunk", "Go to the previous hunk."),
    Command("next-file", "J", "conflict", "next file", "Go to the next file."),
    Command("previous-file", "K", "conflict", "previous file", "Go to the previous file."),
    Command("open-editor", "o", "conflict", "$EDITOR", "Edit the file, with conflict markers, in your editor."),
    Command("merge-tool", "t", "conflict", "merge tool", "Open the file in the merge tool that your git is set to."),
    Command("bench-shell", "exclamation_mark", "conflict", "shell", "Open a shell where the merge lies as files.",
            shown="!"),
    Command("read-folder", "r", "conflict", "read back", "Take over what you edited in that folder."),
    Command("take-folder", "c", "conflict", "whole folder", "Accept that folder with every change in it."),
    Command("bench-send-back", "s", "conflict", "send back", "Let an agent do the task again, told of both sides."),
    Command("bench-start-over", "u", "conflict", "start over", "Do the task again from main as it is."),
    Command("give-up", "X", "conflict", "give up", "Cancel the task; its work is kept."),
    Command("bench-leave", "escape", "conflict", "leave", "Leave it undecided; what you decided is there next time.",
            shown="esc"),
    Command("bench-help", "question_mark", "conflict", "keys", "Every key of the workbench.", shown="?"),
)  # fmt: skip

BY_ID = {command.id: command for command in COMMANDS}
