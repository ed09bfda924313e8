"""`recall effect`: outside actions that must happen once, whoever dies in between."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from recall.cli.names import complete_receipt, complete_task
from recall.cli.report import ACTOR, ExitCode, Refusal, Stop, accept, say, say_json, warn

if TYPE_CHECKING:
    from recall.cli.project import Project
    from recall.domain.receipts import Receipt, Wish
    from recall.domain.run import Refused
    from recall.domain.task import TaskRef
    from recall.engine.effects import Effects, UnderWay

_PAYLOAD_LIMIT = 16 * 1024 * 1024

_key = click.argument("key", shell_complete=complete_receipt)
_command = click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND…")
_payload = click.option(
    "--payload-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What is sent; a part of what the key stands for.",
)
_task = click.option("--task", "task_id", metavar="ID", shell_complete=complete_task, help="The task it belongs to.")
_idempotent = click.option(
    "--idempotent",
    is_flag=True,
    help="The service carries one key out only once: when nobody knows, it is repeated under the same key.",
)
_retention = click.option(
    "--retention", default="24h", metavar="TIME", help="For so long after it began does the service know a key."
)
_json = click.option("--json", "as_json", is_flag=True, help="Print the receipt as JSON.")


@click.group(
    epilog="""\b
Examples:
  recall effect run T-12:publish:v1 -- ./publish.sh {key}
  recall effect run T-12:mail:v1 --payload-file mail.json --idempotent -- \\
      sh -c 'curl -fsS -H "Idempotency-Key: $RECALL_EFFECT_KEY" --data-binary @- https://mail.example/send'
  recall effect list                     what has begun, failed or is in doubt
  recall effect done T-12:publish:v1     you looked, and it has happened"""
)
def effect() -> None:
    """Have an outside action happen once: under a receipt that outlives whoever began it.

    KEY names the business (`T-12:publish:v1`), never an attempt: whoever takes the task over uses the same one. The
    same command and payload again give the answer that was kept; others are refused. What was begun by somebody who
    is gone is in doubt, which a reconcile command or a person settles.
    """


@effect.command(
    epilog="""\b
Examples:
  recall effect run T-12:publish:v1 -- ./publish.sh {key}
  recall effect run T-12:tag:v1 --reconcile 'git ls-remote --exit-code origin v1 || exit 1' -- git push origin v1
  recall effect run T-12:pay:v1 --payload-file pay.json --idempotent --retention 24h -- ./pay.sh

Exit codes: 0 it has happened, and the answer is printed; 1 refused, failed or in doubt (the message says which);
11 this run has lost its task; 12 somebody is at it."""
)
@_key
@_payload
@click.option(
    "--reconcile",
    metavar="CMD",
    help="A shell command that says whether it happened: exit 0 yes (its output is the answer), 1 no, else unknown.",
)
@_idempotent
@_retention
@click.option("--clean-failure", is_flag=True, help="When the command fails, nothing has changed outside.")
@_task
@_json
@_command
def run(
    key: str,
    payload_file: Path | None,
    reconcile: str | None,
    idempotent: bool,
    retention: str,
    clean_failure: bool,
    task_id: str | None,
    as_json: bool,
    command: tuple[str, ...],
) -> None:
    """Run a command for its effect outside, unless it has happened already.

    `{key}` in the command becomes the key. It finds the key in RECALL_EFFECT_KEY too, and the payload on its standard
    input and in the file RECALL_EFFECT_PAYLOAD. What it prints is the answer, kept and given again later. When it
    fails, nobody knows whether it had its effect, unless --clean-failure says that it had none.
    """
    from recall.agents.effect_command import EffectCommand
    from recall.engine.effects import Settled

    if not command:
        raise click.UsageError("give the command behind `--`: recall effect run KEY -- COMMAND…")
    payload = _read(payload_file)
    with _opened() as here, _kept(payload) as file:
        wish = here.wish(key, command, payload, task_id, idempotent=idempotent, retention=retention)
        outside = EffectCommand(key, command, dict(os.environ), file)
        outcome = here.effects.run(
            wish,
            lambda lock: outside.perform(lock, clean_failure=clean_failure),
            (lambda lock: outside.ask(lock, reconcile)) if reconcile is not None else None,
        )
    if not isinstance(outcome, Settled):
        raise _stopped(outcome)
    _show(outcome.receipt, as_json, fresh=outcome.fresh)


@effect.command(
    epilog="""\b
Examples:
  recall effect begin T-12:call:v1 && ./call.sh && recall effect done T-12:call:v1
  recall effect begin T-12:call:v1 --within 1h -- "call the printer"

Exit codes: 0 begun: do it now, then say `done` or `fail`; 13 it has happened already, and the answer is printed;
1 refused or in doubt; 11 this run has lost its task; 12 somebody is at it."""
)
@_key
@_payload
@click.option("--within", default="10m", metavar="TIME", help="Unless it is answered by then, it is in doubt.")
@_idempotent
@_retention
@_task
@_json
@click.argument("intent", nargs=-1, type=click.UNPROCESSED, metavar="-- WORDS…")
def begin(
    key: str,
    payload_file: Path | None,
    within: str,
    idempotent: bool,
    retention: str,
    task_id: str | None,
    as_json: bool,
    intent: tuple[str, ...],
) -> None:
    """Write down that you begin an outside action that Recall does not run itself.

    WORDS, if given, say what the key stands for, as the command of `run` does.
    """
    from recall.domain.receipts import Begun, Step

    with _opened() as here:
        wish = here.wish(
            key, intent, _read(payload_file), task_id, idempotent=idempotent, retention=retention, within=within
        )
        begun = here.effects.begin(wish)
    if not isinstance(begun, Begun):
        raise _stopped(begun)
    receipt = begun.receipt
    if begun.step in (Step.BEGIN, Step.REPEAT):
        before = "; it may have happened before" if begun.step is Step.REPEAT else ""
        words = f"{key} has begun, attempt {receipt.attempt}{before}; say `recall effect done` or `fail` next"
        _tell(receipt, as_json, words)
        return
    if begun.step is Step.WAIT:
        raise Stop(ExitCode.BUSY, f"{key} has begun, and {receipt.actor} is at it; ask again later")
    _show(receipt, as_json)
    raise Stop(ExitCode.ALREADY_DONE)


@effect.command(epilog="Examples: recall effect done T-12:call:v1 --answer 'ticket 4711'")
@_key
@click.option("--answer", default="", metavar="TEXT", help="What the outside said; kept and given again later.")
@click.option("--attempt", type=click.IntRange(1), metavar="N", help="Only if this attempt is still the last one.")
@_json
def done(key: str, answer: str, attempt: int | None, as_json: bool) -> None:
    """Say that an outside action has happened. This is final."""
    from recall.domain.receipts import Happened, kept_answer

    with _opened() as here:
        finding = Happened(kept_answer(answer.encode("utf-8", "replace")))
        accept(here.effects.answer(_known(here.project, key).key, attempt, finding, actor=here.actor))
        _tell(_known(here.project, key), as_json, f"{key} is done")


@effect.command(epilog="Examples: recall effect fail T-12:call:v1 --reason 'the printer was off'")
@_key
@click.option("--reason", default="somebody looked", metavar="TEXT", help="How that is known.")
@click.option("--attempt", type=click.IntRange(1), metavar="N", help="Only if this attempt is still the last one.")
@_json
def fail(key: str, reason: str, attempt: int | None, as_json: bool) -> None:
    """Say that an outside action did not happen, so that it may be tried again."""
    from recall.domain.receipts import DidNotHappen

    with _opened() as here:
        accept(here.effects.answer(_known(here.project, key).key, attempt, DidNotHappen(reason), actor=here.actor))
        _tell(_known(here.project, key), as_json, f"{key} may be tried again")


@effect.command("list", epilog="Examples: recall effect list --all --json")
@click.option("--all", "everything", is_flag=True, help="Also what is done.")
@click.option("--json", "as_json", is_flag=True, help="Print a list of receipts as JSON.")
def list_receipts(everything: bool, as_json: bool) -> None:
    """List outside actions that have begun, failed or are in doubt."""
    from recall.cli.words import clock_time, columns

    with _opened() as here:
        here.effects.sweep(here.actor)
        receipts = here.project.store.receipts(open_only=not everything)
    if as_json:
        say_json([_as_json(receipt) for receipt in receipts])
        return
    rows = [(one.key, _word(one), clock_time(one.changed_at), one.actor, _remark(one)) for one in receipts]
    for line in columns(rows, indent="") or ["nothing has begun, failed or is in doubt; --all shows what is done"]:
        say(line)


@effect.command(epilog="Examples: recall effect show T-12:publish:v1")
@_key
@_json
def show(key: str, as_json: bool) -> None:
    """Show everything known about an outside action."""
    from recall.cli.words import clock_time

    with _opened() as here:
        here.effects.sweep(here.actor)
        receipt = _known(here.project, key)
    if as_json:
        say_json(_as_json(receipt))
        return
    say(f"{receipt.key}  {_word(receipt)}")
    say(f"  attempt {receipt.attempt}, begun {clock_time(receipt.began_at)} by {receipt.actor}")
    say(f"  changed {clock_time(receipt.changed_at)}" + (f": {receipt.reason}" if receipt.reason else ""))
    if receipt.ref is not None:
        say(f"  task {receipt.ref}" + (f", run {receipt.run_id}" if receipt.run_id is not None else ""))
    if receipt.terms.idempotent:
        say(f"  the service knows the key for {receipt.terms.retention:.0f} s after it began")
    if receipt.answer:
        say(f"\n{receipt.answer}")


class _Here(NamedTuple):
    """Who asks, and where: a person, or the agent of a run."""

    project: Project
    effects: Effects
    actor: str
    run_id: int | None

    def wish(
        self,
        key: str,
        command: Sequence[str],
        payload: bytes,
        task_id: str | None,
        *,
        idempotent: bool,
        retention: str,
        within: str | None = None,
    ) -> Wish:
        from recall.domain.receipts import Terms, Wish, intent_of, is_key

        if not is_key(key):
            raise click.BadParameter(
                f"{key!r} is no key: up to 200 letters, digits and . _ : / @ + = - (such as T-12:publish:v1)"
            )
        return Wish(
            key,
            intent_of(command, payload),
            self.actor,
            Terms(idempotent, _seconds(retention)),
            self._task(task_id),
            self.run_id,
            _seconds(within) if within is not None else None,
        )

    def _task(self, task_id: str | None) -> TaskRef | None:
        from recall.cli.project import known_task

        if task_id is not None:
            return known_task(self.project.store, task_id).ref
        run = self.project.store.run(self.run_id) if self.run_id is not None else None
        return run.ref if run is not None else None


@contextmanager
def _opened() -> Generator[_Here]:
    """Open the project around this folder. From a workspace it is the one that the run belongs to, and whoever is
    fenced off from its store cannot keep a receipt."""
    from recall.agents.mailbox import MailboxError, find_slot
    from recall.bootstrap import effects_at
    from recall.cli.project import opened_project
    from recall.domain.errors import RecallError

    try:
        slot = find_slot(start=Path.cwd())
    except MailboxError:
        slot = None
    with ExitStack() as stack:
        try:
            project = stack.enter_context(opened_project(slot.folder if slot is not None else None))
            effects = effects_at(project.location, project.settings, project.store)
            if slot is not None:
                (project.state / "recall.db.lock").open("ab").close()
        except (RecallError, OSError) as refused:
            if slot is None:
                raise
            raise Refusal(
                f"this run cannot reach the store, so nothing was begun ({refused}). An agent behind a fence keeps "
                "no receipts: ask a person to do it (`recall ask`), or let the task be done without a fence"
            ) from refused
        actor = f"agent {slot.agent}" if slot is not None else ACTOR
        yield _Here(project, effects, actor, slot.run_id if slot is not None else None)


def _read(file: Path | None) -> bytes:
    if file is None:
        return b""
    with file.open("rb") as opened:
        data = opened.read(_PAYLOAD_LIMIT + 1)
    if len(data) > _PAYLOAD_LIMIT:
        raise click.BadParameter(f"{file} is larger than {_PAYLOAD_LIMIT // 2**20} MiB; let the payload name it")
    return data


@contextmanager
def _kept(payload: bytes) -> Generator[Path | None]:
    """The payload as it was hashed, whatever becomes of the file that it was read from."""
    if not payload:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="recall-effect-") as folder:
        file = Path(folder) / "payload"
        file.write_bytes(payload)
        yield file


def _seconds(text: str) -> float:
    from recall.config.values import Unfit, positive_duration

    try:
        return positive_duration(text)
    except Unfit as unfit:
        raise click.BadParameter(f"{text!r} is no length of time: {unfit}") from None


def _known(project: Project, key: str) -> Receipt:
    import difflib

    receipt = project.store.receipt(key)
    if receipt is not None:
        return receipt
    near = difflib.get_close_matches(key, [one.key for one in project.store.receipts(open_only=False)], n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "`recall effect list --all` shows what there is"
    raise Refusal(f"there is no receipt {key}; {hint}")


def _stopped(outcome: UnderWay | Refused) -> Stop:
    from recall.domain.run import Refused

    if isinstance(outcome, Refused):
        return Stop(ExitCode.LEASE_LOST if outcome.lease_lost else ExitCode.REFUSED, outcome.reason)
    return Stop(ExitCode.BUSY, outcome.reason)


def _show(receipt: Receipt, as_json: bool, *, fresh: bool = False) -> None:
    """Print the answer, or end the command with what is known instead."""
    from recall.domain.receipts import ReceiptState

    if as_json:
        say_json({**_as_json(receipt), "fresh": fresh})
    if receipt.state is ReceiptState.DONE:
        if not as_json:
            say(receipt.answer.rstrip("\n"))
        if not fresh:
            warn(f"{receipt.key} has happened before; this is the answer that was kept")
        return
    if receipt.state is ReceiptState.FAILED:
        raise Refusal(f"{receipt.key} did not happen: {receipt.reason}")
    raise Refusal(
        f"{receipt.key} is in doubt: {receipt.reason}. Look whether it happened, then `recall effect done "
        f"{receipt.key}` or `recall effect fail {receipt.key}`"
    )


def _tell(receipt: Receipt, as_json: bool, words: str) -> None:
    if as_json:
        say_json(_as_json(receipt))
    else:
        say(words)


def _word(receipt: Receipt) -> str:
    return receipt.state.replace("_", " ")


def _remark(receipt: Receipt) -> str:
    from recall.domain.text import clean_line, clip

    return clip(clean_line(receipt.reason or receipt.answer), 80)


def _as_json(receipt: Receipt) -> dict[str, object]:
    return {
        "key": receipt.key,
        "state": receipt.state,
        "attempt": receipt.attempt,
        "actor": receipt.actor,
        "task": str(receipt.ref) if receipt.ref is not None else None,
        "run": receipt.run_id,
        "intent": receipt.intent,
        "began_at": receipt.began_at,
        "changed_at": receipt.changed_at,
        "idempotent": receipt.terms.idempotent,
        "retention": receipt.terms.retention,
        "answer": receipt.answer,
        "reason": receipt.reason,
    }
