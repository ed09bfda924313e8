"""What it takes to look at 10,000 tasks and 100 runs: the real `recall-tui` in a real pseudo-terminal.

A key's time runs from the write of the key to the read that brought the last byte of the first painting in which the
cells that the key is about have changed: the marked row or what stands in it for a movement, the borders for another
pane, the typed text *and* the list for a filter, most of the screen for another one. Seconds that tick and logs that
grow do not count as answers. Between two keys passes what a person needs, 60 to 160 ms. The baseline, pressed in turn
with it, is an app of Textual's own with a list of 50 rows and nothing else.

While keys are pressed, 20 of the 100 runs write 1 MB/s together, the selected one among them. The stand-in for
their shims is one process. Everything else is as it would be: the store was filled by `recall import`, the runs are
claimed and running, and the engine, where it is hosted, finds every agent busy.

By itself it takes less than four minutes of a machine that has nothing else to do; as host, only the usual size.

usage: python -m benchmarks.screen [--presses 110] [--rounds 7] [--tasks 10000] [--only PART] [--size …] [--role …]
"""

from __future__ import annotations

import argparse
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.pairs import interleaved, spread
from benchmarks.scene import BIN, environment, run
from benchmarks.terminal import Picture, Terminal, terminal
from recall.bootstrap import open_store_at, settings_at, state_dir, take_dispatcher_lock
from recall.domain.run import Refused
from recall.engine.ports import Store
from recall.gitops.locate import Location, locate

AGENTS, RUNS, WRITING, RATE = 20, 100, 20, 1_000_000
#: An agent that no task is for; first in the list of agents.
SPARE = "a"
NORMAL, LARGE = (120, 40), (200, 60)
#: p95 and p99 of a key's time, in seconds.
BUDGETS = {NORMAL: (0.060, 0.100), LARGE: (0.090, 0.150)}
IDLE_SHARE, MEMORY, FIRST_PAINT, FOREIGN = 0.02, 200_000_000, 1.5, 0.250
PEERS = "users of comparable programs report 10 to 15 s a key and 150 to 350 % of a core at this scale"

_EMPTY_APP = "from textual.app import App\nApp().run()"
_LIST_APP = """
from textual.app import App
from textual.widgets import OptionList
class Listing(App):
    def compose(self):
        yield OptionList(*[f"option number {number}" for number in range(50)])
Listing().run()
"""
_VERBS = ["Read", "Write", "Check", "Split", "Merge", "Rename", "Cache", "Trace", "Guard", "Describe"]
_THINGS = ["parser", "config", "index", "header", "session", "ledger", "exporter", "scheduler", "reader", "palette"]
_PATIENCE = 5.0
#: Processor seconds in a second that are no work of a start any more.
_HARDLY = 0.05


# -- the project ------------------------------------------------------------------------------------------
@dataclass
class Project:
    """A repository whose store holds the tasks. `runs` are the ids of those that were claimed."""

    folder: Path
    location: Location
    store: Store
    runs: list[int] = field(default_factory=list[int])

    @property
    def repository(self) -> Path:
        return self.folder / "shop"

    @property
    def env(self) -> dict[str, str]:
        return environment(self.folder)

    @property
    def state(self) -> Path:
        return state_dir(self.location, settings_at(self.location))


@contextmanager
def project(folder: Path, tasks: int, agents: int = AGENTS, parallel: int = RUNS // AGENTS) -> Generator[Project]:
    repository = folder / "shop"
    repository.mkdir(parents=True)
    env = environment(folder)
    os.environ.update(env)
    (repository / "TASKS.md").write_text(task_list(tasks))
    (repository / "recall.toml").write_text(settings(agents, parallel))
    for argv in (["init", "-q", "-b", "main"], ["add", "-A"], [*_USER, "commit", "-q", "-m", "start"]):
        run(["git", *argv], repository, env)
    run([str(BIN / "recall"), "import"], repository, env)
    location = locate(repository)
    configured = settings_at(location)
    with closing(open_store_at(location, configured)) as store:
        store.sync_agents(configured.agent_specs)
        yield Project(folder, location, store)


_USER = ("-c", "user.name=user", "-c", "user.email=user@example.invalid")


def task_list(count: int) -> str:
    """Two in five are done, two in five wait for another one, the rest are ready."""
    lines = ["# Tasks", ""]
    for number in range(count):
        title = f"{_VERBS[number % 10]} the {_THINGS[number // 10 % 10]} of part {number // 100}"
        after = f" (after: T-{number - 1})" if number % 5 in (3, 4) else ""
        lines.append(f"- [{'x' if number % 5 < 2 else ' '}] T-{number} {title}{after}")
    return "\n".join(lines) + "\n"


def settings(agents: int, parallel: int) -> str:
    lines = ['main = "main"', 'verify = "true"', f"[agents.{SPARE}]", 'command = ["/bin/true"]', 'types = ["none"]']
    for number in range(agents):
        lines += [f"[agents.a{number:02}]", 'command = ["/bin/true"]', f"parallel = {parallel}"]
    return "\n".join(lines) + "\n"


def claim_runs(scene: Project, runs: int = RUNS, agents: int = AGENTS) -> None:
    """Claim ready tasks, evenly over the list, and record the runs as running."""
    ready = sorted(scene.store.snapshot().ready, key=lambda task: task.position)
    tip = run(["git", "rev-parse", "HEAD"], scene.repository, scene.env).strip()
    for number, task in enumerate(ready[:: len(ready) // runs][:runs]):
        agent = f"a{number % agents:02}"
        claim = scene.store.claim(task.ref, agent, f"{agent}-{number}", 3600.0)
        if isinstance(claim, Refused):
            raise RuntimeError(f"{task.ref} cannot be claimed: {claim.reason}")  # noqa: TRY004
        place = {"branch": f"recall/main/{task.id}/1", "base": tip, "slot": f"s{number}"}
        scene.store.start_run(claim.run_id, claim.owner, claim.version, **place)
        scene.runs.append(claim.run_id)


@contextmanager
def writing(scene: Project, rate: int = RATE) -> Generator[None]:
    """Let the first runs write so many bytes a second together, while the others are silent."""
    loud, silent = ([str(run) for run in part] for part in (scene.runs[:WRITING], scene.runs[WRITING:]))
    argv = [sys.executable, "-m", "benchmarks.live_runs", str(scene.state / "runs"), str(rate), ",".join(loud)]
    with subprocess.Popen(
        [*argv, ",".join(silent)], cwd=Path(__file__).parents[1], env=scene.env, stdout=subprocess.PIPE, text=True
    ) as writers:
        try:
            assert writers.stdout is not None
            writers.stdout.readline()
            yield
        finally:
            writers.kill()


# -- what a person sees ------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class View:
    """A picture as it was before a key, and what in it a key may change."""

    rows: list[list[tuple[str, str]]]

    @classmethod
    def of(cls, picture: Picture) -> View:
        return cls(picture.copy())

    @property
    def texts(self) -> list[str]:
        return ["".join(char for char, _ in row) for row in self.rows]

    @property
    def log_top(self) -> int:
        """The first row of the log; the last row of the screen if there is none."""
        return next((y for y, text in enumerate(self.texts) if "4 Log" in text), len(self.rows) - 1)

    @property
    def list(self) -> list[list[tuple[str, str]]]:
        """The beginning of each line of the task list: glyph, id, title, and no times."""
        tops = [y for y, text in enumerate(self.texts) if "1 Tasks" in text]
        return [row[2:36] for row in self.rows[(tops[0] if tops else 2) : self.log_top]]

    @property
    def frames(self) -> list[tuple[int, int, str]]:
        """Where borders are, and in which style."""
        return [
            (y, x, style) for y, row in enumerate(self.rows) for x, (char, style) in enumerate(row) if char in "╭╮╰╯─"
        ]

    @property
    def titles(self) -> list[str]:
        return [text for text in self.texts if "╰" in text or "╭" in text]

    def differs(self, other: View, share: float) -> bool:
        """Whether so much of what stands above the log is different now."""
        pairs = [
            (one, two)
            for row, now in zip(self.rows[: self.log_top], other.rows[: self.log_top], strict=True)
            for one, two in zip(row, now, strict=True)
        ]
        return sum(one != two for one, two in pairs) > share * len(pairs)


@dataclass(frozen=True)
class Key:
    """A key, what kind of answer it wants, and when that is there: `answered` is given before and now."""

    kind: str
    typed: bytes
    answered: Callable[[View, View], bool]


def _list_changed(before: View, now: View) -> bool:
    return before.list != now.list


def _frames_changed(before: View, now: View) -> bool:
    return before.frames != now.frames


def _titles_changed(before: View, now: View) -> bool:
    return before.titles != now.titles


def _other_screen(before: View, now: View) -> bool:
    return before.differs(now, 0.1)


def _filter_asked(before: View, now: View) -> bool:
    return "\n".join(now.texts).count("filter") > "\n".join(before.texts).count("filter")


def _typed(needle: str) -> Key:
    def answered(before: View, now: View) -> bool:
        return _list_changed(before, now) and any(needle in text for text in now.texts)

    return Key("filter typed", needle[-1:].encode(), answered)


MOVE_DOWN, MOVE_UP = Key("move", b"j", _list_changed), Key("move", b"k", _list_changed)
PAGE_DOWN, PAGE_UP = Key("page", b"\x1b[6~", _list_changed), Key("page", b"\x1b[5~", _list_changed)
VIEW = Key("other view", b"v", _other_screen)
ZOOM = Key("zoom", b"z", _frames_changed)
FOLLOW = (Key("follow", b"k", _titles_changed), Key("follow", b"f", _titles_changed))
#: From the first row of the list on. The filter's letters narrow the list one by one.
ROUND = (
    *[MOVE_DOWN] * 7, *[MOVE_UP] * 3, PAGE_DOWN, MOVE_DOWN, PAGE_DOWN, PAGE_UP, PAGE_UP,
    *[Key("pane", pane, _frames_changed) for pane in (b"2", b"3", b"4")], *FOLLOW, Key("pane", b"1", _frames_changed),
    MOVE_DOWN, Key("filter asked", b"/", _filter_asked), *[_typed("sch"[:end]) for end in (1, 2, 3)],
    Key("filter left", b"\x1b", _list_changed), MOVE_DOWN, MOVE_UP,
    ZOOM, ZOOM, VIEW, VIEW, VIEW, Key("open task", b"\r", _other_screen), Key("close task", b"q", _other_screen),
)  # fmt: skip


@dataclass
class Times:
    """Seconds of each kind of key; a key without an answer counts with the whole patience. `processor` is the
    processor time of the program from the first key to the last answer."""

    by_kind: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    unanswered: int = 0
    processor: float = 0.0

    @property
    def all(self) -> list[float]:
        return sorted(value for values in self.by_kind.values() for value in values)

    def note(self, kind: str, seconds: float | None) -> None:
        self.by_kind.setdefault(kind, []).append(_PATIENCE if seconds is None else seconds)
        self.unanswered += seconds is None

    def percentile(self, share: float) -> float:
        values = self.all
        return values[min(len(values) - 1, int(share * len(values)))]


def press(screen: Terminal, key: Key, times: Times) -> None:
    """Press one key when the screen shows everything that was written so far, and wait for its answer."""
    screen.settle(random.uniform(0.06, 0.16))
    before = View.of(screen.picture)
    at = screen.press(key.typed)
    seen = screen.seen(lambda picture: key.answered(before, View.of(picture)), _PATIENCE)
    times.note(key.kind, seen - at if seen is not None else None)


def press_rounds(screen: Terminal, plain: Terminal, presses: int, *, running: bool) -> tuple[Times, Times]:
    """Go through the keys until so many were pressed; after every fourth one, press one in the plain app."""
    ours, theirs = Times(), Times()
    spent = screen.cpu_seconds()
    arrows = (Key("move", b"\x1b[B", _anything), Key("move", b"\x1b[A", _anything))
    while len(ours.all) < presses:
        screen.press(b"g")
        for number, key in enumerate(_round(running=running)):
            press(screen, key, ours)
            if number % 4 == 0:
                press(plain, arrows[number // 4 % 2], theirs)
    ours.processor = screen.cpu_seconds() - spent
    return ours, theirs


def _round(*, running: bool) -> list[Key]:
    """Keys that end where they began; only a run that is there can be followed."""
    return [key for key in ROUND if running or key not in FOLLOW]


def _anything(before: View, now: View) -> bool:
    return before.rows != now.rows


# -- what is measured ------------------------------------------------------------------------------------------
@contextmanager
def opened(scene: Project, size: tuple[int, int], *, hosts: bool) -> Generator[Terminal]:
    """Open the program and wait until it shows the tasks; as a viewer, another process is the dispatcher."""
    with contextmanager(lambda: _other_dispatcher(scene, hosts))(), _program(scene, size) as screen:
        if screen.seen(lambda picture: "T-" in picture.text, 60) is None:
            raise RuntimeError(f"no task is shown:\n{screen.picture.text}")
        screen.settle(3)
        yield screen


def _other_dispatcher(scene: Project, hosts: bool) -> Generator[None]:
    if hosts:
        yield
        return
    with closing(take_dispatcher_lock(scene.location, settings_at(scene.location))):
        yield


def _program(scene: Project, size: tuple[int, int]):
    return terminal([str(BIN / "recall-tui")], scene.repository, scene.env, size)


def keys(scene: Project, size: tuple[int, int], presses: int, *, hosts: bool, words: str) -> None:
    with (
        terminal([sys.executable, "-c", _LIST_APP], scene.repository, scene.env, size) as plain,
        opened(scene, size, hosts=hosts) as screen,
    ):
        ours, theirs = press_rounds(screen, plain, presses, running=bool(scene.runs))
        say_keys(f"{size[0]}x{size[1]}, {words}", size, ours, theirs)
        if scene.runs:
            spent, began = screen.cpu_seconds(), time.perf_counter()
            screen.settle(6)
            share = (screen.cpu_seconds() - spent) / (time.perf_counter() - began)
            print(f"  no key pressed, {WRITING} runs writing: {share:.1%} of a core")
        say("  most memory", screen.peak_bytes() / 1e6, MEMORY / 1e6, "MB")


def say_keys(words: str, size: tuple[int, int], ours: Times, theirs: Times) -> None:
    p95, p99 = BUDGETS[size]
    print(f"a key, {words}: {spread(ours.all)}, {len(ours.all)} keys, {ours.unanswered} unanswered")
    say("  95 of 100 within", 1000 * ours.percentile(0.95), 1000 * p95, "ms")
    say("  99 of 100 within", 1000 * ours.percentile(0.99), 1000 * p99, "ms")
    ratio = statistics.median(ours.all) / statistics.median(theirs.all)
    print(f"  against a list of 50 rows of Textual's own {spread(theirs.all)}: ratio {ratio:.2f}")
    slow, slower = (1000 * theirs.percentile(share) for share in (0.95, 0.99))
    print(
        f"  that list, which shows how busy the machine is: 95 of 100 within {slow:.0f} ms, 99 within {slower:.0f} ms"
    )
    kinds = [f"{kind} {_ms(statistics.median(took))}/{_ms(max(took))}" for kind, took in ours.by_kind.items()]
    print(f"  median/max ms: {', '.join(kinds)}")
    print(f"  processor time {_ms(ours.processor / len(ours.all))} ms a key, logs and all", flush=True)


def say(words: str, found: float, budget: float, unit: str) -> None:
    print(f"{words} {found:.1f} {unit} (budget {budget:g}: {'met' if found <= budget else 'missed'})", flush=True)


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.0f}"


def idle(scene: Project, *, hosts: bool, words: str) -> None:
    with opened(scene, NORMAL, hosts=hosts) as screen:
        rest(screen)
        spent, began, written = screen.cpu_seconds(), time.perf_counter(), screen.written
        screen.settle(12)
        share = (screen.cpu_seconds() - spent) / (time.perf_counter() - began)
        say(f"idle, nothing running, {words}:", 100 * share, 100 * IDLE_SHARE, "% of a core")
        print(f"  {screen.written - written} bytes written in that time")


def rest(screen: Terminal) -> None:
    """Wait until a start has nothing left to do: a second in which the program hardly worked, 20 at most."""
    for _ in range(20):
        spent = screen.cpu_seconds()
        screen.settle(1)
        if screen.cpu_seconds() - spent < _HARDLY:
            return


def foreign(scene: Project, times: int, *, words: str) -> None:
    """From the commit of another process's change to the painting that shows it: an agent paused, a task on hold."""
    found: list[float] = []
    ref = scene.store.snapshot().ready[-1].ref
    changes: list[tuple[Callable[[], object], re.Pattern[str]]] = [
        (lambda: scene.store.pause_agent(SPARE, actor="cli"), _PAUSED),
        (lambda: scene.store.hold(ref, actor="cli"), _READY),
        (lambda: scene.store.resume_agent(SPARE, actor="cli"), _PAUSED),
        (lambda: scene.store.unhold(ref, actor="cli"), _READY),
    ]
    with opened(scene, NORMAL, hosts=False) as screen:
        for change, watched in changes * times:
            screen.settle(random.uniform(0.3, 0.9))
            before = watched.findall(screen.picture.text)
            change()
            at = time.perf_counter()
            seen = screen.seen(lambda picture: watched.findall(picture.text) != before, _PATIENCE)  # noqa: B023
            found.append(_PATIENCE if seen is None else seen - at)
    print(f"changed by another process, {words}: {spread(found)}, {len(found)} changes")
    say("  all within", 1000 * max(found), 1000 * FOREIGN, "ms")


_PAUSED, _READY = re.compile(r" a +paused"), re.compile(r"(\d+) ready")


def first_paint(scene: Project, rounds: int) -> None:
    """Until every cell of the screen was drawn, from the start of the process."""

    def painted(argv: Sequence[str]) -> float:
        with terminal(argv, scene.repository, scene.env, NORMAL) as screen:
            at = screen.seen(lambda picture: picture.whole, 30)
            if at is None:
                raise RuntimeError("nothing was painted")
            return at - screen.started

    ours, empty = [str(BIN / "recall-tui")], [sys.executable, "-c", _EMPTY_APP]
    for argv in (ours, empty):
        painted(argv)
    print(
        interleaved("first paint, empty app", lambda: painted(ours), lambda: painted(empty), rounds).line(FIRST_PAINT)
    )
    with _program(scene, NORMAL) as screen:
        at = screen.seen(lambda picture: "T-" in picture.text, 30)
        print(f"  the tasks themselves after {_ms(at - screen.started) if at else '?'} ms", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presses", type=int, default=110)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--only", choices=("first", "idle", "foreign", "free", "keys"), action="append")
    parser.add_argument("--size", choices=("normal", "large"), action="append")
    parser.add_argument("--role", choices=("viewer", "host"), action="append")
    given = parser.parse_args()
    only = given.only or ["first", "idle", "foreign", "free", "keys"]
    sizes = [{"normal": NORMAL, "large": LARGE}[size] for size in given.size or ("normal", "large")]
    roles = {"viewer": False, "host": True}
    print(f"{given.tasks} tasks, {AGENTS} agents; load {os.getloadavg()[0]:.1f}; {PEERS}", flush=True)
    with tempfile.TemporaryDirectory(prefix="recall-bench-") as place, project(Path(place), given.tasks) as scene:
        if "free" in only:
            keys(scene, NORMAL, given.presses // 4, hosts=False, words="viewer, nothing running, every agent free")
        scene.store.pause_dispatching(actor="cli")
        if "first" in only:
            first_paint(scene, given.rounds)
        if "idle" in only:
            for role in given.role or roles:
                idle(scene, hosts=roles[role], words=role)
        scene.store.resume_dispatching(actor="cli")
        claim_runs(scene)
        with writing(scene):
            if "foreign" in only:
                foreign(scene, 4, words=f"{WRITING} of {RUNS} runs writing")
            if "keys" in only:
                for role in given.role or roles:
                    for size in sizes if given.size or not roles[role] else sizes[:1]:
                        words = f"{role}, {WRITING} of {RUNS} runs writing {RATE / 1e6:g} MB/s"
                        keys(scene, size, given.presses, hosts=roles[role], words=words)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
