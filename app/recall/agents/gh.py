"""Asks the host of a remote about pull requests, and opens them, by the user's own `gh`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from recall.agents.environment import agent_environment
from recall.domain.frozen import frozen
from recall.domain.pull_requests import Offer, PullRequest, PullRequestState, the_one
from recall.domain.receipts import DidNotHappen, Finding, Happened, Unknown
from recall.domain.text import clean_line

#: What `gh` needs of the user's environment beyond what any program gets. Agents are never given these.
_ITS_OWN = ("GH_*", "GITHUB_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK")
_PATIENCE = 60.0
_CREDENTIALS = re.compile(r"(?<=//)[^/@\s]*@")
#: Its files are looked at by nobody else, so no repository's settings count there.
_NOWHERE = Path("/")
_FIELDS = "url,state,mergeCommit"


@frozen
class Gh:
    """`address` gives where the remote is; `main` is the branch that pull requests are for. Every call is made with
    the user's `environ`, never with an agent's, and hands the descriptor of a receipt's lock on."""

    address: Callable[[], str]
    main: str
    environ: Mapping[str, str]

    def missing(self) -> str:
        """Say that there is no `gh` here; "": there is."""
        return "" if self._program() else "gh (https://cli.github.com) is not installed here"

    def find(self, branch: str, lock: int | None = None) -> PullRequest | Unknown | None:
        """Give the pull request of a branch. Unknown: nobody could say whether there is one."""
        args = ("list", "--head", branch, "--base", self.main, "--state", "all", "--json", _FIELDS)
        done = self._run(args, lock)
        if isinstance(done, Unknown | DidNotHappen):
            return Unknown(done.reason)
        if done.returncode != 0:
            return Unknown(f"gh pr list: {_words(done)}")
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            answer: object = json.loads(done.stdout)
            if isinstance(answer, list):
                return the_one([_read(row) for row in cast("list[Mapping[str, Any]]", answer)])
        return Unknown(f"gh pr list: answered {clean_line(done.stdout.decode('utf-8', 'replace'))[:80]!r}")

    def ask(self, offer: Offer, lock: int) -> Finding:
        """Say whether there is a pull request of this offer's branch."""
        found = self.find(offer.branch, lock)
        if isinstance(found, Unknown):
            return found
        return DidNotHappen(f"there is no pull request of {offer.branch}") if found is None else Happened(found.url)

    def open(self, offer: Offer, lock: int) -> Finding:
        """Open a pull request unless its branch, which must be at the remote, has one. When `gh` fails, its host is
        asked whether it did all the same."""
        known = self.ask(offer, lock)
        if not isinstance(known, DidNotHappen):
            return known
        args = ("create", "--head", offer.branch, "--base", self.main, "--title", offer.title, "--body", offer.body)
        done = self._run(args, lock)
        if isinstance(done, Unknown | DidNotHappen):
            return done
        if done.returncode == 0:
            return Happened(clean_line(done.stdout.decode("utf-8", "replace").strip().rpartition("\n")[2]))
        after = self.ask(offer, lock)
        return DidNotHappen(f"gh pr create: {_words(done)}") if isinstance(after, DidNotHappen) else after

    def _program(self) -> str | None:
        return shutil.which("gh", path=self.environ.get("PATH", ""))

    def _run(
        self, args: Sequence[str], lock: int | None
    ) -> subprocess.CompletedProcess[bytes] | Unknown | DidNotHappen:
        """DidNotHappen: it could not be started."""
        program = self._program()
        if program is None:
            return DidNotHappen(self.missing())
        quiet = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1"}
        env = agent_environment(self.environ, cwd=_NOWHERE, passed=_ITS_OWN, extra=quiet)
        where = _CREDENTIALS.sub("", self.address())
        try:
            return subprocess.run(
                [program, "pr", *args, "--repo", where], cwd=_NOWHERE, env=env, stdin=subprocess.DEVNULL,
                capture_output=True, timeout=_PATIENCE, start_new_session=True, check=False,
                pass_fds=() if lock is None else (lock,),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Unknown(f"gh pr {args[0]} did not end within {_PATIENCE:.0f} s")
        except OSError as failed:
            return DidNotHappen(f"gh could not be started: {failed.strerror}")


def _read(row: Mapping[str, Any]) -> PullRequest:
    merged: Mapping[str, Any] | None = row["mergeCommit"]
    commit = clean_line(merged["oid"]) if merged else ""
    return PullRequest(clean_line(row["url"]), PullRequestState(row["state"].lower()), commit)


def _words(done: subprocess.CompletedProcess[bytes]) -> str:
    said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
    return _CREDENTIALS.sub("", clean_line(said[0])) if said else f"ended with {done.returncode}"
