"""Agents keep receipts from their workspaces: a task that is done again by another run has its effect once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recall.domain.receipts import ReceiptState
from tests.support.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

#: The effect is a line in a file outside; `RECALL` is the program that the prompt names.
_PUBLISH = """\
RECALL=${REPORT%% outcome *}
publish() { $RECALL effect run "$TASK:publish:v1" "$@" -- sh -c 'echo "{key}" >> "%s"; echo published'; }
"""


def make_shop(tmp_path: Path, script: str, kind: str = "worktree", extra: str = "") -> Workshop:
    shop = Workshop.create(tmp_path)
    shop.extra = f'[workspaces]\nkind = "{kind}"\n{extra}'
    shop.agent("ant", (_PUBLISH % (tmp_path / "ledger")) + script)
    shop.tasks("## T-1 Publish it")
    shop.settle()
    return shop


def prompt_of(shop: Workshop, run_id: int) -> str:
    return (shop.state / "runs" / str(run_id) / "prompt.md").read_text()


@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_the_next_run_is_given_the_answer_of_the_first(tmp_path: Path, kind: str) -> None:
    script = 'publish > answer; again && success || failure "not yet"'
    shop = make_shop(tmp_path, script, kind, '[sandbox]\nlevel = "none"\n')
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert len(shop.runs()) == 2
    assert (tmp_path / "ledger").read_text() == "T-1:publish:v1\n"
    assert shop.repo.file("answer", "main") == b"published\n"
    assert "effect run T-1:WHAT:v1 -- COMMAND" in prompt_of(shop, 1)
    with shop.store() as store:
        receipt = store.receipt("T-1:publish:v1")
    assert receipt is not None
    assert (receipt.state, receipt.actor, str(receipt.ref), receipt.run_id) == (
        ReceiptState.DONE, "agent ant", "T-1", shop.runs()[0].id
    )  # fmt: skip


def test_a_run_that_died_in_between_leaves_doubt_that_the_next_one_settles_by_asking(tmp_path: Path) -> None:
    asking = f"""--reconcile 'grep "$RECALL_EFFECT_KEY" "{tmp_path}/ledger"'"""
    died = "RECALL_FAILPOINT=effect.performed publish; failure killed"
    script = f"if again; then publish {asking} && success; else {died}; fi"
    shop = make_shop(tmp_path, "echo x > x; " + script)
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (tmp_path / "ledger").read_text() == "T-1:publish:v1\n"
    assert shop.reasons("effect.in_doubt")


def test_doubt_that_nobody_asks_about_is_not_forgotten(tmp_path: Path) -> None:
    shop = make_shop(tmp_path, "echo x > x; RECALL_FAILPOINT=effect.performed publish; success")
    ended = shop.dispatch()
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert shop.look()["T-1"].state == "done"
    assert "recall effect done T-1:publish:v1" in ended.stdout
    assert shop.recall("effect", "done", "T-1:publish:v1").returncode == 0
    assert shop.dispatch().returncode == 0
    assert json.loads(shop.recall("status", "--json").stdout)["needs_you"] == []


def test_a_fenced_agent_is_told_that_it_keeps_no_receipts(tmp_path: Path) -> None:
    script = 'publish > said 2>&1; echo "$? $(cat said)" > said; cat said; success'
    shop = make_shop(tmp_path, script, "clone", '[sandbox]\nlevel = "landlock"\n')
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    said = shop.repo.file("said", "main").decode()
    assert said.startswith("1 ")
    assert "nothing was begun" in said
    assert "effect run" not in prompt_of(shop, 1)
    assert not (tmp_path / "ledger").exists()
