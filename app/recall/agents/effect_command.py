"""Carries out the command of an outside action, or asks one whether it happened."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from recall.domain.frozen import frozen
from recall.domain.receipts import ANSWER_LIMIT, DidNotHappen, Finding, Happened, Unknown, kept_answer
from recall.domain.text import clean_line

#: UTF-8 takes up to four bytes a character; one more tells that there was more.
_READ = 4 * ANSWER_LIMIT + 4


@frozen
class EffectCommand:
    """`argv` and `environ` are complete but for the key, which replaces `{key}` and is RECALL_EFFECT_KEY. `payload`
    is a file: standard input, and RECALL_EFFECT_PAYLOAD. Standard error stays the caller's."""

    key: str
    argv: Sequence[str]
    environ: Mapping[str, str]
    payload: Path | None = None

    def perform(self, lock: int, *, clean_failure: bool) -> Finding:
        """Carry it out. Exit 0: it happened, its output is the answer. What could not be started did not happen; of
        another exit nobody knows, unless `clean_failure` says that nothing has changed outside then."""
        try:
            status, out = self._run(self.argv, lock)
        except OSError as refused:
            return DidNotHappen(clean_line(f"its command could not be started: {refused}"))
        if status == 0:
            return Happened(kept_answer(out))
        reason = f"its command {_ended(status)}"
        return DidNotHappen(reason) if clean_failure and status > 0 else Unknown(reason)

    def ask(self, lock: int, command: str) -> Finding:
        """Ask a shell command. Exit 0: it happened, its output is the answer; 1: it did not; else nobody knows."""
        try:
            status, out = self._run(("/bin/sh", "-c", command), lock)
        except OSError as refused:
            return Unknown(clean_line(f"the reconcile command could not be started: {refused}"))
        if status == 0:
            return Happened(kept_answer(out))
        if status == 1:
            return DidNotHappen("the reconcile command says that it did not happen")
        return Unknown(f"the reconcile command {_ended(status)}")

    def _run(self, argv: Sequence[str], lock: int) -> tuple[int, bytes]:
        """Output goes to a file: a child that stays behind with it open keeps nobody waiting."""
        words = [word.replace("{key}", self.key) for word in argv]
        env = {**self.environ, "RECALL_EFFECT_KEY": self.key}
        if self.payload is not None:
            env["RECALL_EFFECT_PAYLOAD"] = str(self.payload)
        with tempfile.TemporaryFile() as out, Path(self.payload or "/dev/null").open("rb") as stdin:
            done = subprocess.run(words, env=env, stdin=stdin, stdout=out, pass_fds=(lock,), check=False)
            out.seek(0)
            return done.returncode, out.read(_READ)


def _ended(status: int) -> str:
    return f"ended with {status}" if status > 0 else f"was ended by signal {-status}"
