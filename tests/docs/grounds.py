"""What the pages start from: a folder of its own with agents that know nothing of Recall, and what was done in it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from recall.cli.report import run
from recall.cli.root import recall
from tests.cli.conflict_ground import Ground as Settled
from tests.support.hermetic_git import Repo, make_home
from tests.support.workshop import PRELUDE, eventually

#: Stands for every agent CLI on PATH. What it does for a task is in ~/deeds; by default it writes a file.
_AGENT = f"""\
#!/bin/bash
case "$*" in *--help*|*--version*) echo "$0 1.0"; exit 0;; esac
{PRELUDE}
if [ -f "$HOME/deeds/$TASK" ]; then . "$HOME/deeds/$TASK"; else
    echo "done by $(basename "$0")" > "$TASK.txt"; commit "$TASK: write a file"; success "wrote $TASK.txt"
fi
"""
_AGENTS = ("claude", "codex", "gemini")

_WITH_CONFLICTS = """\
verify = "none"

[merge]
conflicts = "person"

[agents.ann]
command = ["true"]
parallel = 9

[agents.codex]
command = ["true"]
"""

#: Files that two tasks change in the same lines.
_MET = ("docs/index.md", "docs/old.md", "src/a.py", "src/rest.py")
_PATIENCE = 60  # seconds

_LIST = """\
# The shop

## T-2 Say hello in capitals

## T-7 Say hello in French

## T-4 Guess the weather

- attempts: 1

## T-3 Paint the door

## T-12 Print a poster

- after: T-7
"""

#: T-2 and T-7 begin on the same main and change the same line; T-4 cannot be done, T-3 needs an answer.
_DEEDS = {
    "T-2": """\
until [ -e "$HOME/T-7.began" ] || [ -e "$HOME/over" ]; do sleep 0.05; done
mkdir -p src; echo HELLO > src/greeting.txt; commit "T-2: capitals"; success""",
    "T-7": """\
touch "$HOME/T-7.began"
until git cat-file -e main:src/greeting.txt || [ -e "$HOME/over" ]; do sleep 0.1; done
mkdir -p src; echo bonjour > src/greeting.txt; commit "T-7: French"; success""",
    "T-4": "echo maybe > weather.txt; failure 'nobody can know'",
    "T-3": '$ASK "Which colour?"',
}

#: Says where it works, once, and works on until the reader leaves.
_WAITS = """\
pwd > "$HOME/place"; mv "$HOME/place" "$HOME/here"
until [ -e "$HOME/over" ]; do sleep 0.1; done
"""


class _Screen(io.StringIO):
    """Takes every sign, as terminals do."""

    encoding = "utf-8"


class _Typing(io.StringIO):
    """What a person types, and sees on the screen."""

    def __init__(self, text: str, screen: io.StringIO) -> None:
        super().__init__(text)
        self._screen = screen

    def readline(self, size: int = -1, /) -> str:
        line = super().readline(size)
        self._screen.write(line)
        return line


@dataclass
class Answer:
    code: int
    said: str


@dataclass
class Ground:
    """`folder` holds a home, the agents' programs and what a page makes. Commands run where the last one left off."""

    folder: Path
    here: Path
    _dispatchers: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])

    @classmethod
    def prepare(cls, folder: Path, patch: pytest.MonkeyPatch) -> Ground:
        """Make the ground and take its environment over into this process."""
        home, programs = make_home(folder / "home"), folder / "bin"
        programs.mkdir()
        for name in (*_AGENTS, "agent.sh"):
            _program(programs / name, _AGENT)
        root = " --allow-root" if os.geteuid() == 0 else ""
        _program(programs / "recall", f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m recall "$@"\n')
        start = "from recall.cli.tui import main; main()"
        _program(programs / "recall-tui", f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "{start}" "$@"{root}\n')
        patch.setenv("HOME", str(home))
        patch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        patch.setenv("EDITOR", "true")  # what a person writes is shown in the page's next block
        ground = cls(folder, folder / "work")
        ground.here.mkdir()
        return ground

    # -- acting ------------------------------------------------------------------------------------------------
    def types(self, command: str, answers: str = "") -> Answer:
        """Run a command as a shell would: in this process if it is one of ours and nothing else. `answers` are typed
        when it asks."""
        words = _plain(command)
        inside = bool(words) and words[0] == "recall"
        return self._inside(words[1:], answers) if inside else self._shell(command, answers)

    def needs(self, command: str) -> None:
        answer = self.types(command)
        assert answer.code == 0, f"{command}: {answer.code}\n{answer.said}"

    def dispatches(self) -> None:
        """Have a dispatcher work beside the reader until the ground is left."""
        with (self.folder / "dispatcher").open("w") as said:
            self._dispatchers.append(
                subprocess.Popen(
                    ["recall-tui", "--no-ui"],
                    cwd=self.here,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=said,
                    start_new_session=True,
                )
            )

    def has_ended(self) -> bool:
        return any(process.poll() is not None for process in self._dispatchers)

    def leave(self) -> None:
        """End what works here: the agents as soon as they look, the dispatcher as soon as they have ended."""
        (self.folder / "home" / "over").touch()
        for process in self._dispatchers:
            process.terminate()
            process.wait(30)

    def write(self, path: str, text: str, *, add: bool = False) -> None:
        target = self.here / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text((target.read_text() + "\n" if add else "") + text)

    def deed(self, task: str, script: str) -> None:
        deeds = self.folder / "home" / "deeds"
        deeds.mkdir(exist_ok=True)
        (deeds / task).write_text(script + "\n")

    def _inside(self, words: list[str], answers: str) -> Answer:
        said = _Screen()
        with (
            contextlib.chdir(self.here),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setattr(sys, "stdin", _Typing(answers, said))
            code = run(recall, "recall", words)
        return Answer(code, said.getvalue())

    def _shell(self, command: str, answers: str) -> Answer:
        left = self.folder / "left"
        script = f"{command}\ncode=$?; pwd > {shlex.quote(str(left))}; exit $code"
        process = subprocess.Popen(
            ["bash", "-c", script],
            cwd=self.here,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(answers, timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
            raise AssertionError(f"{command} did not end within {_PATIENCE} s:\n{said}") from None
        self.here = Path(left.read_text().rstrip("\n")) if left.exists() else self.here
        return Answer(process.returncode, said)


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _plain(command: str) -> list[str]:
    """The words of a command that is nothing but words; else none."""
    return [] if re.search(r"[|&;<>$(){}`*?~\n]", command) else shlex.split(command)


# -- the grounds ----------------------------------------------------------------------------------------------------
def _outside(ground: Ground) -> None:
    repo = Repo.create(ground.here / "your-repository")
    repo.commit("start", {"README.md": "A shop.\n", "Makefile": "test:\n\tgit --version\n"})


def _repository(ground: Ground) -> None:
    _outside(ground)
    ground.here = ground.here / "your-repository"


def _set_up(ground: Ground, tasks: str = _LIST, merge: str = "") -> None:
    _repository(ground)
    ground.needs("recall init --yes")
    ground.write("TASKS.md", tasks)
    text = (ground.here / "recall.toml").read_text()
    ground.write("recall.toml", text.replace("[merge]\n", f"[merge]\n{merge}"))
    ground.needs("git add -A && git commit -q -m 'Set Recall up' && recall import")


def _changed(ground: Ground) -> None:
    _set_up(ground)
    ground.needs("recall config trust")
    text = (ground.here / "recall.toml").read_text()
    ground.write("recall.toml", text.replace('verify = "make test"', 'verify = "git --version"'))


def _morning(ground: Ground) -> None:
    for task, script in _DEEDS.items():
        ground.deed(task, script)
    _set_up(ground, merge='conflicts = "person"\n')
    answer = ground.types("recall-tui --no-ui --until-done")
    assert (answer.code, "1 of 5 tasks finished" in answer.said) == (1, True), answer.said


def _at_work(ground: Ground) -> None:
    ground.deed("T-12", _WAITS)
    _one_task(ground)
    ground.dispatches()
    place = ground.folder / "home" / "here"
    eventually(lambda: place.exists() or ground.has_ended())


def _workspace(ground: Ground) -> None:
    _at_work(ground)
    ground.here = Path((ground.folder / "home" / "here").read_text().rstrip("\n"))


def _conflicts(ground: Ground) -> None:
    """T-7 meets T-2 in four files, and T-8 to T-11 in one."""
    titles = {"T-2": "Shout", "T-7": "Whisper", "T-8": "Sing", "T-9": "Hum", "T-10": "Whistle", "T-11": "Yell"}
    _repository(ground)
    ground.write("recall.toml", _WITH_CONFLICTS)
    ground.write("TASKS.md", "".join(f"## {task} {title}\n\n" for task, title in titles.items()))
    ground.needs("git add -A && git commit -q -m 'Set Recall up' && recall import")
    repo = Repo(ground.here)
    lines = {path: "".join(f"{number}\n" for number in range(20)) for path in _MET}
    repo.commit("files", lines)
    work = Settled(repo)
    work.begin(*titles)
    work.finish("T-2", {path: text.replace("3\n", "main\n") for path, text in lines.items()})
    work.finish("T-7", {path: text.replace("3\n", "task\n") for path, text in lines.items()} | {"docs/old.md": None})
    for task in ("T-8", "T-9", "T-10", "T-11"):
        work.finish(task, {"src/rest.py": lines["src/rest.py"].replace("3\n", f"{task}\n")})
    work.step()
    ground.write("fixed.py", "fixed\n")


def _one_task(ground: Ground) -> None:
    _set_up(ground, "## T-12 Print a poster\n")


def _claimed(ground: Ground) -> None:
    _one_task(ground)
    ground.needs("recall next --agent claude")
    ground.needs("git switch -q -c my-branch && touch poster && git add . && git commit -q -m 'T-12: print it'")
    ground.needs("git switch -q main")


def _acts_outside(ground: Ground) -> None:
    _set_up(ground)
    for name in ("publish", "is-tagged", "tag", "pay"):
        _program(ground.here / f"{name}.sh", "#!/bin/sh\nexit 0\n")
    ground.write("pay.json", "{}\n")


GROUNDS: Mapping[str, Callable[[Ground], None]] = {
    "an empty folder": lambda ground: None,
    "a folder with your-repository": _outside,
    "a repository": _repository,
    "a repository that is set up": _set_up,
    "a repository whose commands changed": _changed,
    "a repository with one task": _one_task,
    "a repository in the morning": _morning,
    "a repository with scripts that act outside": _acts_outside,
    "the workspace of a run": _workspace,
    "a repository in which an agent works": _at_work,
    "a repository with conflicts": _conflicts,
    "a claim of T-12": _claimed,
}


@contextlib.contextmanager
def standing_on(name: str, folder: Path, patch: pytest.MonkeyPatch) -> Generator[Ground]:
    """Prepare a ground in this folder, and end what works on it afterwards."""
    ground = Ground.prepare(folder, patch)
    try:
        GROUNDS[name](ground)
        yield ground
    finally:
        ground.leave()
