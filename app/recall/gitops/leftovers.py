"""What an agent changed but did not commit, staged with the dispatcher's own git dir and a throw-away index.

The index is a fresh one, so every file is read and hashed: what the agent's index says of times and sizes is not
believed. No filter, hook or monitor of the agent's repository can run, since its configuration is never read.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from recall.domain.frozen import frozen
from recall.domain.surroundings import refuse_scarcity
from recall.domain.text import clean, clean_line
from recall.domain.work import PersonNeeded
from recall.gitops.changes import GITLINK, ChangedPath, parse_raw
from recall.gitops.command import Finished
from recall.gitops.content_rule import ContentRule
from recall.gitops.foreign import ForeignGitDir
from recall.gitops.ignored import excludes
from recall.gitops.integration import IntegrationRepository, borrowing
from recall.gitops.protected import MAILBOX
from recall.gitops.submodules import touched_submodules

_WHAT = "were left uncommitted"


@frozen
class Leftovers:
    """`tree` is the content with the leftovers in it; `paths` are them, none when there is nothing to commit."""

    tree: str
    paths: tuple[str, ...]
    notes: tuple[str, ...] = ()


def stage_leftovers(
    integration: IntegrationRepository,
    agent: ForeignGitDir,
    tree: Path,
    standing: str,
    rule: ContentRule,
    ignore: Sequence[str],
    trusted: Path | None = None,
) -> Leftovers | PersonNeeded:
    """Give what `tree` holds beyond the commit `standing`, or what only a person can decide about it. Untracked files
    that `ignore` describes are passed over. `trusted` is an index that nobody else could write, from before the run:
    files that are unchanged by it are not read."""
    with TemporaryDirectory(prefix="leftovers-", dir=integration.git_dir) as folder:
        stage = _Stage(integration, agent, tree, Path(folder))
        return (
            stage.hidden_files()
            or stage.read(standing, trusted, ignore)
            or stage.nothing_left()
            or stage.nested_repositories()
            or stage.too_much_to_read(rule)
            or stage.add()
            or stage.outcome(standing, rule)
        )


class _Stage:
    """One throw-away index. The steps are to be called in the order of `stage_leftovers`; each gives None to go
    on, the last one always gives an answer."""

    def __init__(self, integration: IntegrationRepository, agent: ForeignGitDir, tree: Path, folder: Path) -> None:
        self._integration = integration
        self._agent = agent
        self._tree = tree
        self._index = folder / "index"
        self._copy = folder / "copy"
        self._excludes = folder / "excludes"
        self._env: Mapping[str, str] = borrowing(agent.objects)
        self._gitlinks: dict[str, str] = {}
        self._untracked: tuple[str, ...] = ()
        self._notes: tuple[str, ...] = ()

    def hidden_files(self) -> PersonNeeded | None:
        """Bits in the agent's index that tell git to look away make `add` see deletions or miss edits."""
        self._copy.write_bytes(self._agent.index())
        done = self._integration.git("ls-files", "-v", "-z", index=self._copy, work_tree=self._tree, check=False)
        if not done.ok:
            self._notes = (f"its index could not be read ({clean_line(done.error)})",)
            return None
        tagged = [entry.partition(" ") for entry in done.text.split("\0") if entry]
        if unmerged := tuple(dict.fromkeys(clean_line(path) for tag, _, path in tagged if tag == "M")):
            return PersonNeeded("it left files with unresolved conflicts", unmerged)
        if hidden := tuple(clean_line(path) for tag, _, path in tagged if tag == "S" or tag.islower()):
            return PersonNeeded(
                "files in its work tree are marked skip-worktree or assume-unchanged, so their state is unknown",
                hidden,
            )
        return None

    def read(self, standing: str, trusted: Path | None, ignore: Sequence[str]) -> PersonNeeded | None:
        done = self._read_over(trusted, standing) if trusted is not None and trusted.exists() else None
        if done is None or not done.ok:
            self._index.unlink(missing_ok=True)
            done = self._integration.git("read-tree", standing, index=self._index, env=self._env, check=False)
        if not done.ok:
            refuse_scarcity(f"commit {standing[:12]} cannot be used: {clean(done.error)}")
            return PersonNeeded(f"commit {standing[:12]} cannot be used: {clean(done.error)}")
        entries = [entry.partition("\t") for entry in self._git("ls-files", "-s", "-z").split("\0")]
        self._gitlinks = {path: meta.split(" ")[1] for meta, _, path in entries if meta.startswith(GITLINK)}
        ignored = excludes(ignore, (path for _, _, path in entries), self._integration.ignored_everywhere())
        self._excludes.write_text(ignored, "utf-8", "surrogateescape")
        return None

    def _read_over(self, trusted: Path, standing: str) -> Finished:
        """What `standing` has as the trusted index has it keeps its times there; a change sets a new one that
        no program can take back. Git counts whole seconds: by the time of the index itself it knows which files may
        have changed within the same one, and looks into those."""
        shutil.copy2(trusted, self._index)
        done = self._integration.git("read-tree", "-m", "-i", standing, index=self._index, env=self._env, check=False)
        shutil.copystat(trusted, self._index)
        return done

    def nothing_left(self) -> Leftovers | None:
        """One look tells whether there is anything at all, and mostly there is not."""
        args = ("ls-files", "-m", "-o", "--directory", "--exclude-standard", "-z", "--", *self._scope())
        if self._gitlinks or self._git(*self._ignoring, *args):
            return None
        return Leftovers("", (), self._notes)

    def nested_repositories(self) -> PersonNeeded | None:
        """A repository inside is neither files nor a commit of this one. Work in submodules counts as well."""
        args = ("ls-files", "-o", "--exclude-standard", "-z", "--", *self._scope())
        listed = self._git(*self._ignoring, *args)
        self._untracked = tuple(path for path in listed.split("\0") if path)
        nested = [path for path in self._untracked if path.endswith("/")]
        nested += touched_submodules(self._integration.git_dir, self._tree, self._gitlinks)
        if not nested:
            return None
        return PersonNeeded("there are git repositories inside the work tree", tuple(map(clean_line, sorted(nested))))

    def too_much_to_read(self, rule: ContentRule) -> PersonNeeded | None:
        """Look at the sizes of untracked files before they are copied into an object store."""
        return rule.too_large({path: _size(self._tree / path) for path in self._untracked}, _WHAT)

    def add(self) -> PersonNeeded | None:
        args = (*self._ignoring, "add", "-A", "--", *self._scope())
        done = self._integration.git(*args, index=self._index, work_tree=self._tree, env=self._env, check=False)
        if done.ok:
            return None
        refuse_scarcity(f"the files that it left cannot be added: {clean(done.error)}")
        return PersonNeeded(f"the files that it left cannot be added: {clean(done.error)}")

    def outcome(self, standing: str, rule: ContentRule) -> Leftovers | PersonNeeded:
        tree = self._git("write-tree")
        raw = self._integration.git("diff-tree", "-r", "-z", "--raw", "--no-renames", standing, tree, env=self._env)
        changes = parse_raw(raw.out).get("", [])
        refused = rule.too_large(self._stored_sizes(changes), _WHAT)
        return refused or Leftovers(tree, tuple(clean_line(change.path) for change in changes), self._notes)

    def _stored_sizes(self, changes: Sequence[ChangedPath]) -> dict[str, int]:
        kept = [change for change in changes if not change.is_gone and change.mode != GITLINK]
        asked = "".join(f"{change.oid}\n" for change in kept).encode()
        sizes = self._integration.git("cat-file", "--batch-check=%(objectsize)", stdin=asked, env=self._env).text
        return {change.path: int(size) for change, size in zip(kept, sizes.split(), strict=True)}

    @property
    def _ignoring(self) -> tuple[str, str]:
        return "-c", f"core.excludesFile={self._excludes}"

    def _scope(self) -> list[str]:
        """Everything but the mailbox and what submodules hold: git would start another git inside them."""
        return [":/", *(f":(top,exclude,literal){path}" for path in (MAILBOX, *self._gitlinks))]

    def _git(self, *args: str) -> str:
        return self._integration.git(*args, index=self._index, work_tree=self._tree, env=self._env).text


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
