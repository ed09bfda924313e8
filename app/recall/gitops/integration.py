"""The dispatcher's own git dir, in which results are collected and rebased.

It borrows the user's objects as alternates but has none of the user's branches, hooks, filters or drivers, so
nothing that an agent wrote into a shared configuration can run here. What enters becomes a pack of its own and is
pinned by `refs/recall/run/<id>`: it survives whatever happens to the branch that it came from.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from recall.domain.errors import EnvironmentFailure
from recall.domain.surroundings import refuse_scarcity
from recall.domain.text import clean
from recall.domain.work import PersonNeeded
from recall.failpoint import failpoint
from recall.gitops.agent_files import read_text
from recall.gitops.command import ALONE, Finished, pipe_git, run_git
from recall.gitops.commits import Commit
from recall.gitops.lfs import is_of_lfs
from recall.gitops.repository import Repository
from recall.whole_files import replace_file

#: The user's local settings that change what git writes, and no others: the rest may name programs.
_COPIED = (
    r"^(user\..*|core\.(autocrlf|eol|filemode|ignorecase|symlinks|precomposeunicode)|i18n\..*"
    r"|filter\.lfs\.(clean|smudge|process|required))$"
)

#: The same from the user's and the system's configuration, and the filters and ignore rules that agents work under.
_COPIED_GLOBAL = (
    r"^(user\..*|core\.(autocrlf|eol|filemode|ignorecase|symlinks|precomposeunicode|excludesfile|attributesfile)"
    r"|i18n\..*|filter\..*\.(clean|smudge|process|required))$"
)

_STALE_LOCK = 30.0  # seconds


class IntegrationRepository:
    """A bare git dir at `<state>/integration.git`. Disposable: it is rebuilt when it cannot be used."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.git_dir = repository.state_dir / "integration.git"
        self._untrusted: frozenset[str] = frozenset()
        self._trees: dict[str, str] = {}  # of the commits written last
        self._excludes_file = ""

    @property
    def objects(self) -> Path:
        return self.git_dir / "objects"

    def git(
        self,
        *args: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        index: Path | None = None,
        work_tree: Path | None = None,
        check: bool = True,
    ) -> Finished:
        """Run git here, whatever the folder."""
        return run_git(
            args,
            git_dir=self.git_dir,
            cwd=work_tree or self.git_dir,
            work_tree=work_tree,
            index=index,
            stdin=stdin,
            env={**ALONE, **(env or {})},
            check=check,
        )

    # -- start -----------------------------------------------------------------------------------------------
    def prepare(self, wall: float, untrusted: Collection[str] = ()) -> str:
        """Make it, or bring it up to date, or rebuild it. `wall` is the time of day (seconds UTC), `untrusted` are
        names of filters that are left out. Gives a sentence when something had to be mended."""
        self._untrusted = frozenset(untrusted)
        if not self.git_dir.exists():
            self._build()
            return ""
        self._remove_stale_locks(wall)
        self._refresh()
        fault = self._fault()
        if not fault:
            return self._drop_broken_pins()
        aside = _free_name(self.git_dir.with_suffix(".broken"))
        self.git_dir.rename(aside)
        failpoint("integration.moved_aside")
        self._build()
        return f"the integration repository could not be used ({fault}); a new one was built, the old is {aside}"

    def _build(self) -> None:
        place, name = self.git_dir.parent, f"{self.git_dir.stem}.new-"
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        for unfinished in place.glob(f"{name}*"):  # of one that was killed
            shutil.rmtree(unfinished, ignore_errors=True)
        fresh = Path(tempfile.mkdtemp(prefix=name, dir=place))
        init = ["init", "-q", "--bare", "--template=", f"--object-format={self.repository.object_format}"]
        run_git([*init, "-b", "nothing", str(fresh)], cwd=fresh.parent)
        failpoint("integration.initialised")
        fresh.rename(self.git_dir)
        self._refresh()
        if self.repository.shallow_file.exists():
            self._copy_everything()

    def _refresh(self) -> None:
        (self.git_dir / "info").mkdir(exist_ok=True)
        (self.objects / "info").mkdir(parents=True, exist_ok=True)
        settings = self._settings()
        self._excludes_file = dict(settings).get("core.excludesfile", "")
        _write(self.git_dir / "config", config_text(settings))
        _write(self.objects / "info" / "alternates", f"{self.repository.objects}\n")
        _copy_or_remove(self.repository.common_dir / "info" / "exclude", self.git_dir / "info" / "exclude")
        self._copy_shallow_boundary()

    def _remove_stale_locks(self, wall: float) -> None:
        """What a killed git left. Our own calls hold a lock for milliseconds, and another process may be at it."""
        for lock in self.git_dir.rglob("*.lock"):
            with contextlib.suppress(FileNotFoundError):
                if wall - lock.stat().st_mtime > _STALE_LOCK:
                    lock.unlink()

    def _settings(self) -> list[tuple[str, str]]:
        modern = self.repository.object_format != "sha1"
        settings = [
            ("core.repositoryformatversion", "1" if modern else "0"),
            ("core.bare", "true"),
            ("core.logallrefupdates", "false"),
            ("lfs.storage", str(self.repository.common_dir / "lfs")),
        ]
        if modern:
            settings.append(("extensions.objectformat", self.repository.object_format))
        general = [pair for pair in self.repository.global_config(_COPIED_GLOBAL) if self._is_trusted(pair[0])]
        own = self.repository.local_config(_COPIED)
        return [*general, *settings, *(pair for pair in own if _is_harmless(*pair))]

    def ignored_everywhere(self) -> str:
        """Give what the user ignores in every repository, from where git looks for it."""
        settings = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
        place = Path(self._excludes_file or f"{settings}/git/ignore").expanduser()
        return read_text(Path(os.path.realpath(place)))

    def _is_trusted(self, key: str) -> bool:
        return not (key.startswith("filter.") and key[len("filter.") :].rpartition(".")[0] in self._untrusted)

    def _copy_shallow_boundary(self) -> None:
        _copy_or_remove(self.repository.shallow_file, self.git_dir / "shallow")

    def _copy_everything(self) -> None:
        """A shallow clone's boundary moves when the user deepens it: keep what main has now as our own."""
        tip = self.repository.main_tip()
        source, sink = pipe_git(
            ["pack-objects", "--revs", "--stdout", "-q"],
            ["index-pack", "--stdin", "--fix-thin"],
            git_dir=self.git_dir,
            stdin=f"{tip}\n".encode(),
        )
        if not (source.ok and sink.ok):
            raise EnvironmentFailure(f"could not copy main's objects: {clean(source.error or sink.error)}")

    def _fault(self) -> str:
        tip = self.repository.main_tip()
        done = self.git("cat-file", "-e", f"{tip}^{{commit}}", check=False)
        return "" if done.ok else clean(done.error) or "main's commit is not visible in it"

    def _drop_broken_pins(self) -> str:
        listed = self.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/recall").text.splitlines()
        pins = [line.partition(" ") for line in listed]
        seen = self.git("cat-file", "--batch-check=%(objecttype)", stdin=_lines(oid for oid, _, _ in pins)).text
        lost = [name for (_, _, name), kind in zip(pins, seen.splitlines(), strict=False) if kind != "commit"]
        for name in lost:
            self.git("update-ref", "-d", name)
        return f"these results were lost from the integration repository: {', '.join(lost)}" if lost else ""

    # -- taking in -------------------------------------------------------------------------------------------
    def carry(self, tip: str, exclude: Sequence[str], objects: Path | None = None) -> PersonNeeded | None:
        """Copy everything that `tip` has and none of `exclude` has into a pack of our own, checked object by
        object; trees with a `.git` entry and the like are refused. `objects` is the object folder of a clone.

        The shallow boundary is brought up to date first: the user may have deepened the clone meanwhile.
        """
        self._copy_shallow_boundary()
        source, sink = pipe_git(
            ["pack-objects", "--revs", "--stdout", "--thin", "-q"],
            ["index-pack", "--stdin", "--strict", "--fix-thin"],
            git_dir=self.git_dir,
            stdin=_lines([tip, *(f"^{commit}" for commit in exclude)]),
            env=borrowing(objects),
        )
        if source.ok and sink.ok:
            return None
        said = " ".join(clean(f"{source.error} {sink.error}").split())  # either may end the other
        refuse_scarcity(f"its objects cannot be taken over: {said}")
        return PersonNeeded(f"its objects cannot be taken over: {said or 'they could not be read'}")

    def pin(self, run_id: int, commit: str) -> None:
        self.git("update-ref", f"refs/recall/run/{run_id}", commit)

    def unpin(self, run_id: int) -> None:
        """Let go of a result that is in main under other ids. The objects stay."""
        self.git("update-ref", "-d", f"refs/recall/run/{run_id}")

    # -- objects ---------------------------------------------------------------------------------------------
    def tree_of(self, commit: str) -> str:
        """Give a commit's tree; what was written here itself is known."""
        known = self._trees.get(commit)
        return known or self.git("rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}").text

    def commits(self, oids: Sequence[str], objects: Path | None = None) -> list[Commit]:
        """Read commits, all with one process."""
        return [Commit.parse(raw) for raw in self._read(oids, "commit", objects)]

    def blobs(self, oids: Sequence[str], objects: Path | None = None) -> dict[str, bytes]:
        """Read files by their ids, all with one process."""
        return dict(zip(oids, self._read(oids, "blob", objects), strict=True))

    def _read(self, oids: Sequence[str], kind: str, objects: Path | None) -> Iterator[bytes]:
        out = self.git("cat-file", "--batch", stdin=_lines(oids), env=borrowing(objects)).out
        at = 0
        for oid in oids:
            end = out.index(b"\n", at)
            fields = out[at:end].split()
            if len(fields) != 3 or fields[1] != kind.encode():
                raise EnvironmentFailure(f"{kind} {oid} cannot be read in {self.git_dir}: {clean(str(fields))}")
            at = end + 1 + int(fields[2])
            yield out[end + 1 : at]
            at += 1

    def store(self, commits: Sequence[Commit]) -> None:
        """Write commits, all with one process; their ids are `Commit.oid`."""
        self._trees = {commit.oid(self.repository.object_format): commit.tree for commit in commits}
        with tempfile.TemporaryDirectory(prefix="commits-", dir=self.git_dir) as folder:
            paths = [Path(folder, str(number)) for number in range(len(commits))]
            for path, commit in zip(paths, commits, strict=True):
                path.write_bytes(commit.raw)
            self.git(
                "hash-object", "-w", "-t", "commit", "--no-filters", "--stdin-paths", stdin=_lines(map(str, paths))
            )


def _is_harmless(key: str, value: str) -> bool:
    """A linked worktree shares its configuration with the user, so an agent can write there: LFS and nothing else."""
    return not key.startswith("filter.") or is_of_lfs(key, value)


def borrowing(objects: Path | None) -> dict[str, str]:
    """Give the environment in which one more object folder can be read."""
    if objects is None:
        return {}
    quoted = str(objects).replace("\\", "\\\\").replace('"', '\\"')
    return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{quoted}"'}


def config_text(settings: Iterable[tuple[str, str]]) -> str:
    """Write (key, value) pairs as a git configuration file."""
    lines: list[str] = []
    for key, value in settings:
        section, _, rest = key.partition(".")
        middle, _, name = rest.rpartition(".")
        plain = middle.replace("\\", "\\\\").replace('"', '\\"')  # the only two escapes that git knows here
        head = f'{section} "{plain}"' if middle else section
        lines += [f"[{head}]", f"\t{name} = {_quoted(value)}"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def _lines(words: Iterable[str]) -> bytes:
    return "".join(f"{word}\n" for word in words).encode("utf-8", "surrogateescape")


def _write(path: Path, text: str) -> None:
    """Replace a file as a whole, and only if it changes: another process may be reading it."""
    data = text.encode("utf-8", "surrogateescape")
    if path.is_file() and path.read_bytes() == data:
        return
    replace_file(path, data)


def _copy_or_remove(source: Path, target: Path) -> None:
    if source.is_file():
        _write(target, source.read_text("utf-8", "surrogateescape"))
    else:
        target.unlink(missing_ok=True)


def _free_name(path: Path) -> Path:
    return next(
        name for name in (path.with_name(f"{path.name}-{number}") for number in range(1, 10_000)) if not name.exists()
    )
