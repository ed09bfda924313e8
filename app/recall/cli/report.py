"""The only place that writes to the terminal and that knows exit codes.

Everything printed is cleaned first: titles, branch names and agents' words may hold escape sequences.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

import click

from recall.domain.errors import ConfigError, DispatcherRunning, EnvironmentFailure, RecallError, StoreBusy
from recall.domain.text import clean, clip

if TYPE_CHECKING:
    from recall.domain.run import Refused
from recall.domain.surroundings import failure_of, is_of_surroundings

#: Plain, bold, dim, italic, red, green.
_COLOUR = re.compile(r"(\x1b\[(?:[0123]|2;3|3[12])m)")

#: Whom the event log names for what a person did on the command line.
ACTOR = "cli"


class ExitCode(IntEnum):
    """What the process's exit status says. Scripts and agents may rely on these numbers."""

    OK = 0
    REFUSED = 1
    """The request makes no sense in this state, or something now needs a person."""
    BAD_CONFIG = 2
    """recall.toml, a task list or the command line cannot be used as it stands."""
    DISPATCHER_RUNS = 3
    """Another dispatcher works on this repository."""
    ENVIRONMENT = 4
    """Git, the disk, the store or the system failed; nothing was half written."""
    NOTHING_TO_CLAIM = 10
    """`recall next`: there is no task for this agent now."""
    LEASE_LOST = 11
    """The task is not this agent's any more: stop working on it."""
    BUSY = 12
    """Another process held the store for too long; trying again is safe."""
    ALREADY_DONE = 13
    """`recall effect begin`: it has happened already, so it is not to be done again."""
    INTERRUPTED = 130
    """Stopped from the keyboard."""


class Stop(RecallError):
    """Ends a command with this code; an empty message means that everything was said already."""

    def __init__(self, code: ExitCode, message: str = "") -> None:
        super().__init__(message)
        self.code = code


class Refusal(Stop):
    """Ends a command that cannot be done in this state; the message says why and what can be done instead."""

    def __init__(self, message: str) -> None:
        super().__init__(ExitCode.REFUSED, message)


@dataclass(slots=True)
class Answer:
    """What a command says, kept for one JSON object instead of lines when `--json` asks for it and the command has
    no shape of its own: `{"code", "said": [lines], "error": text or null}`."""

    as_json: bool = False
    said: list[str] = field(default_factory=list[str])
    error: str | None = None

    def close(self, code: int) -> None:
        if self.as_json:
            say_json({"code": int(code), "said": self.said, "error": self.error})


def answer_in_json(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Have everything that this command says printed as one JSON object when it ends."""
    if wanted and isinstance(context.obj, Answer):
        context.obj.as_json = True


def _kept() -> Answer | None:
    context = click.get_current_context(silent=True)
    answer = context.obj if context is not None else None
    return answer if isinstance(answer, Answer) and answer.as_json else None


def accept(refused: Refused | None) -> None:
    """Go on if the store accepted; else end the command with its reason."""
    if refused is not None:
        raise Stop(ExitCode.LEASE_LOST if refused.lease_lost else ExitCode.REFUSED, refused.reason)


def say(text: str = "") -> None:
    """Print lines for people on standard output."""
    if (kept := _kept()) is not None:
        kept.said += clean(text).split("\n")
    else:
        click.echo(clean(text))


def say_coloured(text: str) -> None:
    """Print lines for people with the few colours that Recall itself uses, where a terminal shows them."""
    if _kept() is not None or not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        say(text)
    else:
        parts = _COLOUR.split(text)  # each second one is a colour
        click.echo("".join(part if number % 2 else clean(part) for number, part in enumerate(parts)) + "\x1b[0m")


def say_json(value: object, *, compact: bool = False) -> None:
    """Print one JSON value, in ASCII, so that no terminal obeys anything in it."""
    click.echo(json.dumps(value, indent=None if compact else 2))


def say_script(text: str) -> None:
    """Print a program of ours for another one to read, as it is."""
    click.echo(text)


def ring() -> None:
    """Ring the bell of the terminal, if there is one."""
    if sys.stdout.isatty():
        click.echo("\a", nl=False)


def warn(text: str) -> None:
    """Print lines for people on standard error."""
    click.echo(clean(text), err=True)


def redraw(text: str) -> None:
    """Show text in place of what was shown before, cut to the terminal and without flicker: each line is
    overwritten and its rest erased, nothing is blanked first. Off a terminal it is just printed."""
    import shutil

    if not sys.stdout.isatty():
        say(text)
        return
    columns, rows = shutil.get_terminal_size()
    lines = fitted(clean(text).split("\n"), columns, rows - 1)
    click.echo("\x1b[H" + "".join(f"{line}\x1b[K\n" for line in lines) + "\x1b[J", nl=False)


def fitted(lines: list[str], columns: int, rows: int) -> list[str]:
    """Cut cleaned lines to a screen; what is left out is said in its last line."""
    if len(lines) > rows:
        lines = [*lines[: rows - 1], f"… and {len(lines) - rows + 1} more lines"]
    return [clip(line, columns) for line in lines]


def ask(question: str, default: str) -> str:
    """Ask a person for a line; entering nothing takes the default."""
    answer: str = click.prompt(clean(question), default=clean(default))
    return answer


def confirm(question: str) -> bool:
    """Ask a person for a yes; anything else, or nobody there to ask, is a no."""
    try:
        return click.confirm(clean(question))
    except click.Abort:
        return False


def plain_terminal() -> bool:
    """Tell whether standard output cannot show more than ASCII."""
    encoding = sys.stdout.encoding or "ascii"
    return not encoding.lower().replace("-", "").startswith("utf")


def run(command: click.Command, name: str, args: list[str] | None = None) -> int:
    """Run a click command and give its exit code. Every error that is known to end a command becomes one
    message on standard error and one code; anything else is a fault of ours and keeps its traceback."""
    answer = Answer()
    try:
        code = _run(command, name, args, answer)
        answer.close(code)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    return code


def _run(command: click.Command, name: str, args: list[str] | None, answer: Answer) -> int:
    try:
        ended: object = command.main(args=args, prog_name=name, standalone_mode=False, obj=answer)
    except SystemExit:
        return ExitCode.OK  # click's own answer to a reader that went away; nothing else makes it exit here
    except (click.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except click.ClickException as wrong:
        return _usage(wrong)
    except RecallError as error:
        _tell(str(error), answer)
        return _code(error)
    except OSError as refused:
        if isinstance(refused, BrokenPipeError) or not is_of_surroundings(refused):
            raise
        _tell(str(failure_of(refused, "the system refused what was needed")), answer)
        return ExitCode.ENVIRONMENT
    return ended if isinstance(ended, int) else ExitCode.OK


def _tell(trouble: str, answer: Answer) -> None:
    if answer.as_json:
        answer.error = clean(trouble)
    elif trouble:
        warn(trouble)


def _usage(wrong: click.ClickException) -> ExitCode:
    context = wrong.ctx if isinstance(wrong, click.UsageError) else None
    if context is not None:
        warn(f"{context.get_usage()}\nSee `{context.command_path} --help`.\n")
    warn(wrong.format_message())
    return ExitCode.BAD_CONFIG


def _code(error: RecallError) -> ExitCode:
    if isinstance(error, Stop):
        return error.code
    codes = (
        (StoreBusy, ExitCode.BUSY),
        (EnvironmentFailure, ExitCode.ENVIRONMENT),
        (DispatcherRunning, ExitCode.DISPATCHER_RUNS),
        (ConfigError, ExitCode.BAD_CONFIG),
    )
    return next((code for kind, code in codes if isinstance(error, kind)), ExitCode.REFUSED)
