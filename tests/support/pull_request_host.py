"""A host of pull requests: a bare repository whose main nobody pushes to, and a `gh` that knows only it.

host = PullRequestHost.create(tmp_path, origin)
shop.dispatch(env=host.environ)
host.merge("squash")
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import fake_gh
from tests.support.hermetic_git import Repo


@dataclass(frozen=True)
class PullRequestHost:
    """`origin` is the bare repository, `folder` holds the program and the file of pull requests."""

    origin: Repo
    folder: Path

    @classmethod
    def create(cls, home: Path, origin: Repo) -> PullRequestHost:
        host = cls(origin, home / "host")
        host.folder.mkdir()
        host._file.write_text(json.dumps({"mood": "", "requests": [], "environ": []}))
        program = host.folder / "gh"
        argv = shlex.join([sys.executable, str(Path(fake_gh.__file__)), str(host._file)])
        program.write_text(f'#!/bin/sh\nexec {argv} "$@"\n')
        program.chmod(0o755)
        return host

    @property
    def environ(self) -> dict[str, str]:
        return {"PATH": f"{self.folder}:{os.environ['PATH']}"}

    def requests(self) -> list[dict[str, Any]]:
        return json.loads(self._file.read_text())["requests"]

    def seen_environ(self) -> list[str]:
        """The variables that the last call was given."""
        return json.loads(self._file.read_text())["environ"]

    def feel(self, mood: str) -> None:
        """Set how `gh` behaves, see `fake_gh`."""
        kept = json.loads(self._file.read_text())
        self._file.write_text(json.dumps({**kept, "mood": mood}))

    def close(self) -> None:
        """Close the newest pull request without merging it."""
        self._answer("CLOSED", None)

    def merge(self, how: str = "merge") -> str:
        """Merge the newest pull request as its host would: by `merge`, `squash` or `rebase`."""
        commit = self._merged(self.requests()[-1], how)
        self._answer("MERGED", {"oid": commit})
        return commit

    def _merged(self, request: dict[str, Any], how: str) -> str:
        place = self.folder / "clone"
        clone = Repo(place)
        if not place.exists():
            self.origin.git("clone", "-q", str(self.origin.path), str(place))
        clone.git("fetch", "-q", "origin")
        clone.git("checkout", "-q", "-B", "main", "origin/main")
        head = f"origin/{request['head']}"
        if how == "merge":
            clone.git("merge", "-q", "--no-ff", "-m", "Merge pull request", head)
        elif how == "squash":
            clone.git("merge", "-q", "--squash", head)
            clone.git("commit", "-q", "-m", request["title"])
        else:
            clone.git("cherry-pick", "--no-ff", f"main..{head}")
        clone.git("push", "-q", "origin", "main")
        return clone.tip("HEAD")

    def _answer(self, state: str, commit: dict[str, str] | None) -> None:
        kept = json.loads(self._file.read_text())
        kept["requests"][-1] |= {"state": state, "mergeCommit": commit}
        self._file.write_text(json.dumps(kept))

    @property
    def _file(self) -> Path:
        return self.folder / "requests.json"
