"""Kill -9 around an outside action: it is not done twice and not forgotten, against a real service that counts."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest

import recall.engine.effects
from tests.support import forked
from tests.support.counting_service import CountingService
from tests.support.hermetic_git import Repo
from tests.support.workshop import eventually

pytestmark = pytest.mark.faults

KEY = "T-1:pay:v1"
DONE, REFUSED, BUSY, ALREADY_DONE = 0, 1, 12, 13


def failpoints() -> set[str]:
    """Those on the way of `recall effect run`."""
    return set(re.findall(r'failpoint\("(effect\.\w+)"\)', Path(recall.engine.effects.__file__).read_text()))


@dataclass(frozen=True)
class Shop:
    """A project and a service outside."""

    repo: Repo
    service: CountingService

    def argv(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "recall", "effect", *args]

    def effect(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        return forked.run("recall.cli:main", "effect", *args, cwd=self.repo.path, env=os.environ | env)

    def run(self, *options: str, key: str = KEY, **env: str) -> subprocess.CompletedProcess[str]:
        return self.effect("run", key, *options, "--", *self.service.sending, **env)

    @contextmanager
    def running(self, *options: str) -> Generator[subprocess.Popen[str]]:
        process = subprocess.Popen(
            self.argv("run", KEY, *options, "--", *self.service.sending), cwd=self.repo.path, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def asking(self) -> tuple[str, str]:
        return "--reconcile", self.service.asking

    def show(self, key: str = KEY) -> dict[str, Any]:
        return json.loads(self.effect("show", key, "--json").stdout)

    def arrived(self, times: int = 1) -> None:
        eventually(lambda: self.service.requests[KEY] == times)


@pytest.fixture
def shop(repo: Repo, tmp_path: Path) -> Iterator[Shop]:
    repo.commit("settings", {"recall.toml": 'verify = "none"\n[agents.ant]\ncommand = ["true"]\n'})
    with CountingService(tmp_path) as service:
        yield Shop(repo, service)


def lose_the_answer(shop: Shop, *options: str) -> None:
    """The service has done it, and nobody wrote that down."""
    assert shop.run(*options, RECALL_FAILPOINT="effect.performed").returncode == -SIGKILL
    assert shop.service.effects[KEY] == 1


def test_the_same_action_again_gives_the_answer_and_sends_nothing(shop: Shop) -> None:
    first, second = shop.run(), shop.run()
    assert (first.returncode, second.returncode) == (DONE, DONE)
    assert first.stdout == second.stdout == f"receipt 1 for {KEY}\n"
    assert shop.service.requests[KEY] == 1


def test_a_lost_answer_is_in_doubt_and_never_sent_again_by_a_guess(shop: Shop) -> None:
    lose_the_answer(shop)
    for _ in range(2):
        taken_over = shop.run()
        assert taken_over.returncode == REFUSED
        assert "in doubt" in taken_over.stderr
    assert shop.show()["state"] == "in_doubt"
    assert shop.service.requests[KEY] == 1


def test_a_lost_answer_is_found_by_asking(shop: Shop) -> None:
    lose_the_answer(shop)
    found = shop.run(*shop.asking())
    assert (found.returncode, found.stdout) == (DONE, f"found 1 of {KEY}\n")
    assert shop.run().stdout == found.stdout
    assert shop.service.requests[KEY] == 1


def test_what_was_never_sent_is_sent_once_somebody_has_asked(shop: Shop) -> None:
    assert shop.run(RECALL_FAILPOINT="effect.begun").returncode == -SIGKILL
    assert shop.service.requests[KEY] == 0
    assert shop.run().returncode == REFUSED
    assert shop.run(*shop.asking()).stdout == f"receipt 1 for {KEY}\n"
    assert shop.service.effects[KEY] == 1


def test_a_reconcile_command_that_does_not_know_leaves_it_in_doubt(shop: Shop) -> None:
    lose_the_answer(shop)
    asked = shop.run("--reconcile", "exit 7")
    assert asked.returncode == REFUSED
    assert "the reconcile command ended with 7" in shop.show()["reason"] + asked.stderr
    assert shop.service.requests[KEY] == 1


def test_a_service_that_honours_keys_is_sent_the_same_key_again(shop: Shop) -> None:
    shop.service.honours_keys = True
    lose_the_answer(shop, "--idempotent")
    repeated = shop.run("--idempotent")
    assert (repeated.returncode, repeated.stdout) == (DONE, f"receipt 1 for {KEY}\n")
    assert (shop.service.requests[KEY], shop.service.effects[KEY]) == (2, 1)
    assert shop.show()["attempt"] == 2


def test_what_was_not_stated_when_it_began_cannot_be_stated_afterwards(shop: Shop) -> None:
    lose_the_answer(shop)
    assert shop.run("--idempotent").returncode == REFUSED
    assert shop.service.requests[KEY] == 1


def test_after_the_retention_nothing_is_repeated(shop: Shop) -> None:
    lose_the_answer(shop, "--idempotent", "--retention", "0.01s")
    assert shop.run("--idempotent").returncode == REFUSED
    assert shop.service.requests[KEY] == 1


@pytest.mark.parametrize("point", sorted(failpoints()))
def test_a_kill_at_any_point_is_recovered_from(shop: Shop, point: str) -> None:
    options = shop.asking()
    if point == "effect.reconciled":
        lose_the_answer(shop)
    assert shop.run(*options, RECALL_FAILPOINT=point).returncode == -SIGKILL
    print(f"killed at {point}")
    assert shop.run(*options).returncode == DONE
    assert shop.run(*options).returncode == DONE
    assert shop.service.effects[KEY] == 1
    assert shop.show()["state"] == "done"


def test_a_command_that_outlives_its_worker_is_not_repeated_meanwhile(shop: Shop) -> None:
    shop.service.gate.clear()
    with shop.running() as worker:
        shop.arrived()
        worker.kill()
        worker.wait()
        meanwhile = shop.run(*shop.asking())
        assert meanwhile.returncode == BUSY, meanwhile.stderr
        shop.service.gate.set()
        eventually(lambda: shop.run(*shop.asking()).returncode == DONE)
    assert shop.service.requests[KEY] == 1


def test_many_who_begin_at_once_send_it_once(shop: Shop) -> None:
    shop.service.gate.clear()
    with shop.running() as one, shop.running() as two, shop.running() as three:
        workers = (one, two, three)
        eventually(lambda: sum(worker.poll() is not None for worker in workers) == 2)
        assert sorted(worker.returncode for worker in workers if worker.returncode is not None) == [BUSY, BUSY]
        shop.arrived()
        shop.service.gate.set()
        eventually(lambda: all(worker.poll() is not None for worker in workers))
    assert sorted(worker.returncode for worker in workers) == [DONE, BUSY, BUSY]
    assert shop.run().stdout == f"receipt 1 for {KEY}\n"
    assert shop.service.requests[KEY] == 1


def test_a_failed_command_leaves_doubt_unless_it_says_that_nothing_happened(shop: Shop) -> None:
    failing = ["--", "sh", "-c", "exit 3"]
    assert "in doubt: its command ended with 3" in shop.effect("run", "a", *failing).stderr
    assert "did not happen" in shop.effect("run", "b", "--clean-failure", *failing).stderr
    assert "did not happen" in shop.effect("run", "c", "--", "no-such-program").stderr
    assert [shop.show(key)["state"] for key in "abc"] == ["in_doubt", "failed", "failed"]


def test_the_payload_is_what_was_hashed_and_another_one_is_refused(shop: Shop, tmp_path: Path) -> None:
    payload = tmp_path / "payload"
    payload.write_bytes(b"\x00five euros")
    assert shop.run("--payload-file", str(payload)).returncode == DONE
    payload.write_bytes(b"\x00six euros")
    refused = shop.run("--payload-file", str(payload))
    assert refused.returncode == REFUSED
    assert "stands for another action" in refused.stderr
    assert shop.service.bodies == [b"\x00five euros"]


def test_a_beginning_by_hand_is_answered_once(shop: Shop) -> None:
    assert shop.effect("begin", KEY).returncode == DONE
    assert shop.effect("begin", KEY).returncode == BUSY
    assert shop.effect("done", KEY, "--answer", "ticket 4711").returncode == DONE
    again = shop.effect("begin", KEY)
    assert (again.returncode, again.stdout) == (ALREADY_DONE, "ticket 4711\n")
    assert "is done" in shop.effect("fail", KEY).stderr


def test_a_beginning_by_hand_that_nobody_answers_is_in_doubt_later(shop: Shop) -> None:
    assert shop.effect("begin", KEY, "--within", "0.01s", RECALL_FAILPOINT="effect.begun").returncode == -SIGKILL
    assert shop.effect("begin", KEY).returncode == REFUSED
    assert shop.effect("fail", KEY).returncode == DONE
    assert shop.effect("begin", KEY).returncode == DONE
    late = shop.effect("done", KEY, "--attempt", "1")
    assert late.returncode == REFUSED
    assert "attempt 1 of T-1:pay:v1 is over" in late.stderr


def test_status_names_what_is_in_doubt(shop: Shop) -> None:
    lose_the_answer(shop)
    assert shop.run().returncode == REFUSED
    told = subprocess.run(
        [sys.executable, "-m", "recall", "status", "--json"], cwd=shop.repo.path, capture_output=True, check=True
    )
    assert any(f"recall effect done {KEY}" in line for line in json.loads(told.stdout)["needs_you"])


def test_every_failpoint_here_is_spelled_out() -> None:
    tree = ast.parse(Path(recall.engine.effects.__file__).read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "failpoint"]
    assert {ast.literal_eval(call.args[0]) for call in calls} == failpoints()
