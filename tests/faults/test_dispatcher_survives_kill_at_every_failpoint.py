"""Kill -9 at every place between two durable effects: the next start loses nothing and does nothing twice.

The real dispatcher is killed while real agents work on a real repository; they work on. It is started again until
all is done, then git, store and kernel are asked (`promises`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL
from types import FunctionType

import pytest

import recall
from tests.faults import test_an_outside_action_happens_once as outside
from tests.faults import test_landing_survives_kill as landing
from tests.faults import test_resolve_survives_kill as resolving
from tests.faults import test_work_is_offered_as_a_pull_request as offering
from tests.faults.promises import check_promises, versions
from tests.faults.scenes import (
    CONFLICT,
    EDITED,
    FAILING,
    HANDED_OVER,
    LIMITED,
    MERGE,
    PLAIN,
    RED,
    TELLING,
    TROUBLE,
    Scene,
)
from tests.gitops import test_workspaces_survive_kill as workspaces
from tests.support.workshop import Workshop, eventually

pytestmark = [pytest.mark.faults, pytest.mark.timeout(120)]

Step = str | FunctionType


@dataclass(frozen=True)
class Case:
    """`steps`: failpoints (`NAME` or `NAME#N`) that each end one dispatcher, and what happens in between.

    Points that follow each other in the life of a run are visited in one project: each dispatcher has to put right
    what the one before left, and dies itself a little later.
    """

    name: str
    scene: Scene
    steps: tuple[Step, ...]

    @property
    def points(self) -> set[str]:
        return {step.partition("#")[0] for step in self.steps if isinstance(step, str)}


def damage_integration(shop: Workshop) -> None:
    (shop.state / "integration.git" / "HEAD").unlink()


def wait_for_the_checkout(shop: Workshop) -> None:
    """A file of the user's is in the way of the first result, and goes only when no dispatcher is there any more."""
    in_the_way = shop.repo.write("T-1.a", "mine\n")
    ended = shop.dispatch()
    assert ended.returncode == 1
    assert "T-1.a" in ended.stdout
    in_the_way.unlink()


def near_commit(scene: Scene, *counts: int) -> Iterator[Case]:
    """Every dispatcher is killed just before or just after one of its first transactions."""
    for side in ("before", "after"):
        yield Case(f"{side}_a_commit", scene, tuple(f"store.{side}_commit#{count}" for count in counts))


CASES = [
    Case("first_start", PLAIN, ("integration.initialised", "migrate.backed_up", "store.after_commit#22")),
    Case("first_migration", PLAIN, ("migrate.before_commit", "store.before_commit#22", "results.restored")),
    *near_commit(PLAIN, 1, 3, 6, 10, 15),
    Case(
        "launch",
        PLAIN,
        (
            *("workspace.slot_taken", "launch.workspace_made", "launch.run_recorded"),
            *("settle.lost_run_swept", "settle.lost_run_ended"),
            *("runner.prompt_written", "runner.slot_opened", "runner.spec_written"),
            *("launch.agent_started", "launch.agent_started#2"),
        ),
    ),
    Case(
        "result",
        PLAIN,
        (
            *("results.leftovers_committed", "results.carried", "gateway.result_base_pinned"),
            *("settle.result_carried", "settle.result_queued", "recovery.runs_settled"),
        ),
    ),
    Case("results_beside_each_other", PLAIN, ("settle.result_queued#2", "runner.spec_written#3")),
    Case(
        "verification",
        PLAIN,
        (
            *("queue.rebased", "queue.verifying_recorded", "recovery.unowned_stopped"),
            *("recovery.queue_settled", "slots.proof_taken", "queue.verified"),
        ),
    ),
    Case(
        "landing",
        PLAIN,
        (
            *("landing.objects_carried", "landing.pinned", "landing.main_advanced", "landing.unpinned"),
            *("workspace.work_kept", "workspace.detached", "workspace.base_unpinned"),
        ),
    ),
    Case("landing_beside_edits", EDITED, ("landing.merged", "queue.main_moved", "queue.landing_recorded")),
    Case("landing_rolled_forward", EDITED, ("queue.intent_recorded", "queue.landing_rolled_forward")),
    Case("spending", TELLING, ("settle.spending_kept",)),
    Case("conflict", CONFLICT, ("queue.conflict_recorded", "parking.carried")),
    Case("red", RED, ("queue.rejection_recorded",)),
    Case("failure", FAILING, ("settle.run_settled", "parking.committed")),
    Case(
        "limit",
        LIMITED,
        ("workspace.base_pinned_again", "workspace.handed_over", "launch.workspace_reopened"),
    ),
    Case("handover", HANDED_OVER, ("launch.kept_work_parked",)),
    Case("merge", MERGE, ("rebase.original_kept",)),
    Case("trouble", TROUBLE, ("store.after_commit#40", "queue.main_moved#2")),
    Case("waiting_for_the_checkout", PLAIN, (wait_for_the_checkout, "landing.main_advanced")),
    Case(
        "waiting_for_a_checkout_with_edits",
        EDITED,
        (wait_for_the_checkout, "queue.landing_rolled_forward", "queue.landing_recorded"),
    ),
    Case(
        "damaged_integration",
        EDITED,
        (
            *("settle.result_queued", damage_integration, "integration.moved_aside"),
            *("queue.intent_recorded", damage_integration, "integration.moved_aside"),
        ),
    ),
]

#: Points of the shim, which kill it and not the dispatcher, and the one that follows from such a kill.
OF_SHIMS = {"shim.exit_recorded", "shim.end_stored"}
AFTER_SHIMS = {"settle.run_ended"}


def listed() -> set[str]:
    """Every failpoint in the source. A name that is not spelled out could not be listed, so there may be none."""
    texts = (file.read_text() for file in Path(recall.__path__[0]).rglob("*.py"))
    return {name for text in texts if "failpoint" in text for name in _named(ast.parse(text))}


def _named(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "failpoint":
            (name,) = node.args
            assert isinstance(name, ast.Constant)
            assert isinstance(name.value, str)
            yield name.value


def test_no_failpoint_is_left_out() -> None:
    """Each case fails unless its points are reached, and so do the other files unless theirs are."""
    here = set[str]().union(*(case.points for case in CASES)) | OF_SHIMS | AFTER_SHIMS
    assert here - listed() == set(), "no such failpoint any more"
    elsewhere = landing.failpoints() | set(workspaces.failpoints()) | resolving.failpoints()
    elsewhere |= outside.failpoints() | offering.failpoints()
    assert listed() - here - elsewhere == set(), "never visited"


def kill_at(shop: Workshop, point: str) -> None:
    ended = shop.dispatch(env={"RECALL_FAILPOINT": point})
    assert ended.returncode == -SIGKILL, f"{point} was not reached\n{ended.stdout}{ended.stderr}"
    name = point.partition("#")[0]
    assert f"failpoint {name} hit, killing pid" in ended.stderr
    print(f"killed at {point}")


def finish(shop: Workshop, scene: Scene) -> None:
    ended = shop.dispatch()
    assert ended.returncode == (1 if scene.waiting else 0), ended.stdout + ended.stderr


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_a_kill_at(tmp_path: Path, home: Path, case: Case) -> None:
    shop = case.scene.set_up(tmp_path)
    before: dict[str, int] = {}
    for step in case.steps:
        if isinstance(step, str):
            kill_at(shop, step)
            now = versions(shop)
            assert all(now[id_] >= version for id_, version in before.items())
            before = now
        else:
            step(shop)
    finish(shop, case.scene)
    check_promises(shop, before, waiting=case.scene.waiting, dirty=case.scene.dirty)


def hits_in_shims(shop: Workshop, point: str) -> int:
    logs = (shop.state / "runs").glob("*/shim.log")
    return sum(len(re.findall(rf"failpoint {point} hit, killing pid \d+", log.read_text())) for log in logs)


@pytest.mark.parametrize("point", sorted(OF_SHIMS))
def test_every_shim_is_killed_at(tmp_path: Path, home: Path, point: str) -> None:
    """Agents' shims and those of verifications: what they wrote down counts, whoever lives."""
    shop = PLAIN.set_up(tmp_path)
    ended = shop.dispatch(env={"RECALL_FAILPOINT": point})
    assert ended.returncode == 0, ended.stdout + ended.stderr
    hits = hits_in_shims(shop, point)
    print(f"{hits} shims killed at {point}")
    assert hits >= (6 if point == "shim.exit_recorded" else 3)
    check_promises(shop, {}, dirty=False)


def test_a_kill_while_settling_what_a_killed_shim_wrote_down(tmp_path: Path, home: Path) -> None:
    """First the dispatcher dies, then, with nobody there, the shim between its record and the store; then the
    next dispatcher, once it has marked the run ended in the shim's place."""
    shop = PLAIN.set_up(tmp_path)
    gate = shop.home / "gate"
    script = (shop.home / "agents" / "ant.sh").read_text()
    for name in ("ant", "bee"):
        wait = f'while [ ! -e "{gate}" ]; do sleep 0.05; done\n'
        (shop.home / "agents" / f"{name}.sh").write_text(script.replace("for part", wait + "for part", 1))
    with shop.dispatching(env={"RECALL_FAILPOINT": "shim.exit_recorded"}):
        eventually(lambda: (shop.home / "starts").exists() and len(shop.runs()) == 2)
        eventually(lambda: len((shop.home / "starts").read_text().splitlines()) == 2)
    gate.touch()
    eventually(lambda: hits_in_shims(shop, "shim.exit_recorded") == 2)
    before = versions(shop)
    kill_at(shop, "settle.run_ended")
    finish(shop, PLAIN)
    check_promises(shop, before, dirty=False)
    assert len(shop.runs()) == 3, "a run whose record is there was done again"
