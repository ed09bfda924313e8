"""The table of subcommands. A subcommand's module is imported when it is used, so that what agents call often
starts fast."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

from recall import __version__
from recall.cli.report import answer_in_json

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

#: Name -> module, attribute, and the line that `recall --help` shows. The order is that of the help.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "init": ("init", "init", "Set this repository up: write recall.toml and a first task list."),
    "import": ("import_tasks", "import_tasks", "Bring the store in line with the task lists; shows what changes."),
    "export": ("export", "export", "Print the task lists with their current states."),
    "status": ("status", "status", "Show agents, tasks, merge queue and what needs you."),
    "why": ("why", "why", "Say why a task or an agent is not moving: the one rule that holds it."),
    "show": ("history", "show", "Show everything known about a task or a run."),
    "runs": ("history", "runs", "List runs and how they came out."),
    "log": ("history", "log", "Print the event log: who did what, and why."),
    "stats": ("stats", "stats", "Show figures: landings, success, times, leases, limits, use."),
    "report": ("report_command", "report", "Report what landed, what failed and what waits for you."),
    "agents": ("agents", "agents", "List the agents with their state and weights."),
    "requeue": ("interventions", "requeue", "Make a task claimable again, with all its attempts."),
    "hold": ("interventions", "hold", "Keep a task from being started; stops it if it runs."),
    "unhold": ("interventions", "unhold", "Let a task on hold go on."),
    "cancel": ("interventions", "cancel", "Give a task up; its work is kept."),
    "finish": ("interventions", "finish", "Mark a task as done that you did yourself."),
    "prioritize": ("interventions", "prioritize", "Change a task's priority; higher runs earlier."),
    "answer": ("interventions", "answer", "Answer the question that a task waits with."),
    "resolve": ("resolve", "resolve", "Look at a conflict with main, and settle it."),
    "workspaces": ("workspaces", "workspaces", "Show work that is parked; bring it back or drop it."),
    "queue": ("queue", "queue", "Show the merge queue, and change its order."),
    "pause": ("interventions", "pause", "Start nothing new: for one agent, or for all."),
    "resume": ("interventions", "resume", "Undo a pause or a cooldown."),
    "cooldown": ("cooldown", "cooldown", "Let an agent start nothing for a while, or end that."),
    "explain-log": ("explain_log", "explain_log", "Say what Recall makes of an agent's log: a usage limit or none."),
    "config": ("config_commands", "config", "Show the settings and their origin; confirm the commands in force."),
    "doctor": ("doctor.command", "doctor", "Look for what would keep Recall from working well here."),
    "completion": (
        "completion",
        "completion",
        "Print what makes a shell complete commands, tasks and agents.",
    ),
    "serve": ("serve", "serve", "Show the screen in a browser on this machine."),
    "rehearse": ("rehearse", "rehearse", "See Recall at work on a made-up repository, without any real agent."),
    "next": ("claim", "next_task", "Claim the next task for an agent that you drive yourself."),
    "heartbeat": ("pulled", "heartbeat", "Keep the claim of a task alive."),
    "outcome": ("pulled", "outcome", "Report how a task came out."),
    "ask": ("pulled", "ask", "Put a question to a person and end the run."),
    "effect": (
        "effect",
        "effect",
        "Have an outside action happen once: under a receipt that outlives whoever began it.",
    ),
    "release": ("pulled", "release", "Give a claimed task back without using up an attempt."),
}


#: What these print is for other programs as it is.
_PLAIN = ("completion",)


def _answering_in_json(command: click.Command) -> click.Command:
    """Give `--json` to every command that has no JSON of its own shape."""
    if isinstance(command, click.Group):
        for each in command.commands.values():
            _answering_in_json(each)
    elif not any("--json" in parameter.opts for parameter in command.params):
        words = "Print what it says as one JSON object."
        command.params.append(
            click.Option(["--json"], is_flag=True, expose_value=False, callback=answer_in_json, help=words)
        )
    return command


class LazyGroup(click.Group):
    """A group that imports a subcommand when it is called, and suggests the nearest name for a wrong one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(f"recall.cli.{module}"), attribute)
        return _answering_in_json(command) if cmd_name not in _PLAIN else command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean `recall {near[0]}`?" if near else "see `recall --help`"
            raise click.UsageError(f"there is no command {args[0]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer names from the table, without importing one module for each."""
        from click.shell_completion import CompletionItem

        named = [(name, line) for name, (_, _, line) in COMMANDS.items() if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [CompletionItem(name, help=line) for name, line in named] + options

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, _, summary) in COMMANDS.items()])


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="""\b
Examples:
  recall init                     set a repository up
  recall import && recall-tui     read the task list and let the agents work
  recall status --watch           follow along in another terminal
  recall why T-12                 one sentence: what holds this task""",
)
@click.version_option(__version__, prog_name="recall")
def recall() -> None:
    """Several coding agents on one git repository: each task claimed once, each landing verified first.

    A task is named ID, or REGION:ID when its list is not the main one. Exit codes: 0 done, 1 refused or a person
    is needed, 2 bad configuration, task list or command line, 3 another dispatcher runs here, 4 the environment
    failed, 10 nothing to claim, 11 lease lost (stop working), 12 busy (try again), 13 it has happened already.
    """
