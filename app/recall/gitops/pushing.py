"""Brings main's commits to a remote, and asks the remote what it has. Nothing is ever forced."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from recall.domain.errors import EnvironmentFailure
from recall.domain.frozen import frozen
from recall.domain.receipts import DidNotHappen, Finding, Happened, Unknown
from recall.domain.text import clean_line
from recall.gitops.command import Finished, run_git
from recall.gitops.refs import read_ref

#: What a transport needs of the user's environment beyond what every git call gets.
_TRANSPORT = (
    "SSH_AUTH_SOCK", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "DBUS_SESSION_BUS_ADDRESS", "*_proxy",
    "*_PROXY",
)  # fmt: skip
_PUSH_PATIENCE = 300.0
_UPLOAD_PATIENCE = 3600.0
_ASK_PATIENCE = 60.0
_LFS_TALK = ("Uploading", "hint:")
_CREDENTIALS = re.compile(r"(?<=//)[^/@\s]*@")


def _none() -> Sequence[str]:
    return ()


@frozen
class Remote:
    """The branch `main` of the remote `name`, as the repository in `common_dir` knows it. `doubtful` names settings
    that an agent may have changed, by which git reaches remotes: nothing goes there while there are any."""

    common_dir: Path
    name: str
    main: str
    doubtful: Callable[[], Sequence[str]] = _none

    def push(self, commit: str) -> Finding:
        """Bring main there to `commit`, which must be a descendant of what is there. A refusal is certain; whatever
        else goes wrong leaves open whether it arrived."""
        return self._push(commit, self.main)

    def push_branch(self, branch: str, commit: str) -> Finding:
        """Bring a branch of that name there."""
        return self._push(commit, branch)

    def fetch_main(self) -> str | Unknown:
        """Bring main's commits from there, and give the newest. Nothing of the user's is changed by it."""
        if doubt := self._doubt():
            return Unknown(doubt)
        ref = f"refs/recall/remote/{self.main}"
        quiet = ("--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", "--no-recurse-submodules")
        try:
            done = self._git("fetch", *quiet, self.name, f"+{self._ref}:{ref}", timeout=_PUSH_PATIENCE)
        except EnvironmentFailure as failed:
            return Unknown(clean_line(str(failed)))
        tip = read_ref(self.common_dir, ref) if done.ok else None
        return tip or Unknown(f"{self.main} of {self.name} could not be fetched: {_last_line(done.error)}")

    def trial(self, commit: str, branch: str) -> str:
        """Say why a push of a branch could not succeed, as far as can be told without changing anything; "": it
        could. What a server's rules and hooks say shows only at a push."""
        try:
            tips = self._tips()
            if isinstance(tips, str):
                return tips
            args = ("push", "--dry-run", "--porcelain", "--no-follow-tags", "--no-verify", self.name)
            done = self._git(*args, f"{commit}:refs/heads/{branch}", timeout=_ASK_PATIENCE)
        except EnvironmentFailure as failed:
            return clean_line(str(failed))
        if done.ok:
            return ""
        refusal = next((line for line in done.text.splitlines() if line.startswith("!\t")), "")
        if refusal:
            return self._refused(refusal, branch)
        return f"{self.name} can be read, and takes no push from here: {_last_line(done.error)}"

    def address(self) -> str:
        """Where it is fetched from; "" for a remote that there is none of."""
        return self._git("remote", "get-url", self.name, timeout=_ASK_PATIENCE).text

    def contains(self, tip: str, commit: str) -> bool:
        """Tell whether a commit is another one, or comes before it."""
        return tip == commit or (
            bool(tip) and self._git("merge-base", "--is-ancestor", commit, tip, timeout=_ASK_PATIENCE).status == 0
        )

    def _push(self, commit: str, branch: str) -> Finding:
        if doubt := self._doubt():
            return DidNotHappen(doubt)
        args = ("push", "--porcelain", "--no-follow-tags", "--no-verify", self.name)
        try:
            if trouble := self._upload(commit):
                return DidNotHappen(trouble)
            done = self._git(*args, f"{commit}:refs/heads/{branch}", timeout=_PUSH_PATIENCE)
        except EnvironmentFailure as failed:
            return Unknown(clean_line(str(failed)))
        if done.ok:
            return Happened(f"{branch} at {self.name} is {commit}")
        refusal = next((line for line in done.text.splitlines() if line.startswith("!\t")), "")
        if "[rejected]" in refusal or "[remote rejected]" in refusal:
            return DidNotHappen(self._refused(refusal, branch))
        return Unknown(f"{self.name} could not be reached: {_last_line(done.error)}")

    def has(self, commit: str) -> Finding:
        """Ask whether main there is `commit` or, as far as this repository knows, a descendant of it."""
        try:
            tips = self._tips()
        except EnvironmentFailure as failed:
            return Unknown(clean_line(str(failed)))
        if isinstance(tips, str):
            return Unknown(tips)
        if tips and all(self.contains(tip, commit) for tip in tips):
            return Happened(f"main at {self.name} is {tips[0]}")
        return DidNotHappen(f"{self.name} does not have {commit[:10]}")

    def _upload(self, commit: str) -> str:
        """Bring the contents that a commit's pointers stand for there first, as the hook of Git LFS would; gives why
        they could not be brought."""
        if not self._git(
            "grep", "-q", "-E", r"^[^#]*filter=lfs", commit, "--", ":(glob)**/.gitattributes", timeout=_ASK_PATIENCE
        ).ok:
            return ""
        if not self._git("lfs", "version", timeout=_ASK_PATIENCE).ok:
            return (
                f"nothing was pushed to {self.name}: {commit[:10]} has contents that Git LFS keeps, and git-lfs "
                "(https://git-lfs.com) is not installed here"
            )
        done = self._git("lfs", "push", self.name, commit, timeout=_UPLOAD_PATIENCE)
        if done.ok:
            return ""
        said = [
            line
            for line in f"{done.error}\n{done.text}".splitlines()
            if line.strip() and not line.startswith(_LFS_TALK)
        ]
        why = _CREDENTIALS.sub("", clean_line(" ".join(line.strip() for line in said[:3])))
        return f"nothing was pushed to {self.name}, since contents of Git LFS could not be uploaded: {why}"

    def _tips(self) -> list[str] | str:
        """Main's commit at each address that a push goes to, "" where there is none, or what went wrong."""
        if doubt := self._doubt():
            return doubt
        addresses = self._git("remote", "get-url", "--push", "--all", self.name, timeout=_ASK_PATIENCE)
        if not addresses.ok:
            return f"there is no remote {self.name!r} here; `git remote -v` lists what there is"
        tips: list[str] = []
        for address in addresses.text.splitlines():
            done = self._git("ls-remote", "--", address, self._ref, timeout=_ASK_PATIENCE)
            if not done.ok:
                return f"{self.name} could not be reached: {_last_line(done.error)}"
            tips.append(done.text.partition("\t")[0])
        return tips

    def _doubt(self) -> str:
        names = self.doubtful()
        if not names:
            return ""
        return (
            f"nothing is sent to {self.name} or asked of it: how git reaches remotes changed while an agent could "
            f"write that ({', '.join(names[:5])}); mend it, or accept it by dropping the folder of that run "
            "(`recall workspaces`)"
        )

    def _refused(self, refusal: str, branch: str) -> str:
        why = clean_line(refusal.rpartition("\t")[2])
        stale = "fetch first" in why or "non-fast-forward" in why
        if branch != self.main:
            other = f"there is one with other commits; delete it (`git push {self.name} :{branch}`)"
            return f"the branch {branch} could not be pushed to {self.name}: {other if stale else why}"
        if stale:
            return (
                f"main could not be pushed: {self.name} has commits that main here does not; take them in "
                f"(`git pull {self.name} {self.main}`), and it is pushed again"
            )
        return f"main could not be pushed: {self.name} refuses it: {why}"

    @property
    def _ref(self) -> str:
        return f"refs/heads/{self.main}"

    def _git(self, *args: str, timeout: float) -> Finished:
        passed = {
            name: value
            for name, value in os.environ.items()
            if any(fnmatchcase(name, wanted) for wanted in _TRANSPORT)
        }
        return run_git(args, git_dir=self.common_dir, env=passed, timeout=timeout, check=False)


def _last_line(words: str) -> str:
    """What git said last before its advice, without what an address may hold of a password."""
    told = [line for line in words.splitlines() if line.startswith(("fatal:", "error:", "ssh:"))]
    lines = told or words.splitlines()
    return _CREDENTIALS.sub("", clean_line(lines[0])) if lines else "git did not say why"
