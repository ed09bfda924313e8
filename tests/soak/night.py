"""The night itself: dispatchers that are killed, shims that are killed or frozen, and what must be true then."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from recall.domain.task import DoneBy, TaskState
from tests.soak.agents import hire
from tests.soak.person import Person
from tests.support.workshop import Workshop, eventually

_SETTINGS = """\
[lease]
ttl = "4s"
heartbeat = "1s"
[limits]
margin = "1s"
default = "2s"
[run]
timeout = "30s"
stall = "20s"
grace = "1s"
attempts = 4
max_interruptions = 50
backoff = "0.1s"
after_report = "3s"
"""
_CALM_ROUNDS = 30
#: There is always more to do than there are agents.
_BACKLOG = 16


@dataclass
class Figures:
    """What a night came to. The last three must be 0."""

    seed: int
    minutes: float
    landed: int = 0
    kills: int = 0
    shims_killed: int = 0
    shims_frozen: int = 0
    acts: int = 0
    takeovers: int = 0
    refused_late_writes: int = 0
    results: Counter[str] = field(default_factory=Counter[str])
    double_landings: list[str] = field(default_factory=list[str])
    lost_work: list[str] = field(default_factory=list[str])
    strays: list[str] = field(default_factory=list[str])
    broken: list[str] = field(default_factory=list[str])

    def lines(self) -> list[str]:
        return [
            f"soak of {self.minutes:g} min, seed {self.seed}",
            f"  tasks landed        {self.landed}",
            f"  dispatchers killed  {self.kills}",
            f"  shims killed        {self.shims_killed}, frozen past their lease {self.shims_frozen}",
            f"  a person stepped in {self.acts} times",
            f"  takeovers           {self.takeovers}",
            f"  refused late writes {self.refused_late_writes}",
            "  runs                " + ", ".join(f"{name} {count}" for name, count in self.results.most_common()),
            f"  double landings     {len(self.double_landings)}",
            f"  lost work           {len(self.lost_work)}",
            f"  stray processes     {len(self.strays)}",
        ] + [f"  broken: {words}" for words in (*self.double_landings, *self.lost_work, *self.strays, *self.broken)]

    @property
    def clean(self) -> bool:
        return not (self.double_landings or self.lost_work or self.strays or self.broken)


def spend_a_night(home: Path, minutes: float, seed: int, say: Callable[[str], None] = print) -> Figures:
    """Set a project up in `home`, let everything go wrong for so long, then calm down and count."""
    figures, rng = Figures(seed, minutes), random.Random(seed)
    shop = Workshop.create(home, verify="! grep -q broken *.txt")
    shop.settings = 'main = "main"\nverify = "{verify}"\nverify_timeout = "30s"\n' + _SETTINGS
    hire(shop)
    shop.tasks("## T-0 The first")
    shop.settle()
    person = Person(shop, rng)
    person.add_tasks(2 * _BACKLOG)
    until = time.monotonic() + minutes * 60
    while time.monotonic() < until:
        _one_dispatcher(shop, person, rng, figures, min(until, time.monotonic() + rng.uniform(5, 20)))
        say(f"  {until - time.monotonic():5.0f} s left, {len(person.open_tasks())} tasks open, {figures.kills} kills")
    _calm_down(shop, person)
    figures.acts = person.acts
    _count(shop, figures)
    return figures


def _one_dispatcher(shop: Workshop, person: Person, rng: random.Random, figures: Figures, until: float) -> None:
    """One dispatcher from its start to its violent end."""
    with shop.dispatching("--json", quiet=True) as dispatcher:
        while time.monotonic() < until and dispatcher.poll() is None:
            time.sleep(rng.uniform(0.3, 2.0))
            if rng.random() < 0.5:
                person.act()
            if len(person.open_tasks()) < _BACKLOG:
                person.add_tasks(10)
            if rng.random() < 0.25:
                _hurt_a_shim(shop, rng, figures)
        if dispatcher.poll() is not None:
            figures.broken.append(f"a dispatcher ended by itself with {dispatcher.returncode}")
        dispatcher.send_signal(signal.SIGKILL)
        figures.kills += 1


def _hurt_a_shim(shop: Workshop, rng: random.Random, figures: Figures) -> None:
    """Kill the shim of a run, or freeze it for longer than its lease."""
    shims = _shims(shop)
    if not shims:
        return
    pid = rng.choice(shims)
    try:
        if rng.random() < 0.5:
            os.kill(pid, signal.SIGKILL)
            figures.shims_killed += 1
        else:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(5)
            os.kill(pid, signal.SIGCONT)
            figures.shims_frozen += 1
    except ProcessLookupError:
        return


def _shims(shop: Workshop) -> list[int]:
    runs = f"{shop.state}/runs/".encode()
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if runs in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def _calm_down(shop: Workshop, person: Person) -> None:
    """From now on every run succeeds; go on until nothing is open."""
    (shop.home / "calm").touch()
    for _ in range(_CALM_ROUNDS):
        person.clear_the_way()
        shop.dispatch(timeout=300)
        if not person.open_tasks():
            return


# -- counting ------------------------------------------------------------------------------------------------


def _count(shop: Workshop, figures: Figures) -> None:
    with shop.store() as store:
        events = store.events_since(0, 1_000_000)
        figures.broken += store.check()
        figures.results.update(str(run.result) for run in store.runs())
        tasks = store.tasks()
    kinds = Counter(event.kind for event in events)
    figures.takeovers = kinds["run.adopted"] + kinds["task.lease_expired"]
    figures.refused_late_writes = kinds["run.refused"] + kinds["merge.refused"] + kinds["task.refused"]
    figures.landed = sum(task.state is TaskState.DONE and task.done_by is DoneBy.LANDED for task in tasks)
    figures.broken += [
        f"{task.ref} is {task.state}: {task.reason}" for task in tasks if task.state is not TaskState.DONE
    ]
    figures.double_landings = _landed_twice(shop)
    figures.broken += _not_on_main(shop)
    figures.lost_work = _not_found_again(shop)
    try:
        eventually(lambda: not shop.strays(), 20)
    except AssertionError:
        figures.strays = [f"process {pid}" for pid in shop.strays()]


def _landed_twice(shop: Workshop) -> list[str]:
    """Tasks of which main has commits of more than one run."""
    shown = (
        "%(trailers:key=Recall-Task,valueonly,separator=%x20)\t%(trailers:key=Recall-Run,valueonly,separator=%x20)"
    )
    lines = shop.repo.git("log", f"--format={shown}", "main").splitlines()
    runs: dict[str, set[str]] = {}
    for line in lines:
        task, _, run = line.partition("\t")
        if task.strip():
            runs.setdefault(task.strip(), set()).add(run.strip())
    return [f"{task} landed by runs {', '.join(sorted(them))}" for task, them in runs.items() if len(them) > 1]


def _not_on_main(shop: Workshop) -> list[str]:
    on_main = set(shop.repo.git("rev-list", "main").split())
    landed = [task for task in shop.look().values() if task.done_by is DoneBy.LANDED]
    return [
        f"{task.ref} is done, but main has no {task.done_commit}"
        for task in landed
        if task.done_commit not in on_main
    ]


def _not_found_again(shop: Workshop) -> list[str]:
    """Tokens of commits that were made and are neither in main nor kept under any ref."""
    tokens = (shop.home / "tokens").read_text().split()
    kept = shop.repo.git("log", "--all", "--format=%B")
    kept += shop.repo.git("--git-dir", str(shop.state / "integration.git"), "log", "--all", "--format=%B")
    kept += "".join(
        path.read_text("utf-8", "replace") for path in (shop.repo.path / ".recall").glob("ws/*/tree/*.txt")
    )
    return [f"the commit with {token} is nowhere" for token in tokens if token not in kept]
