"""The slot: given, above the current folder, hinted, or the only one that fits; else the candidates are listed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recall.agents.mailbox import MailboxError, find_slot


def slot(root: Path, name: str, run_id: int, task: str, agent: str, *, closed: bool = False) -> Path:
    folder = root / name
    (folder / "tree" / "src").mkdir(parents=True)
    identity = {"protocol": 1, "run_id": run_id, "task": task, "agent": agent, "token": f"t{run_id}"}
    (folder / "run.json").write_text(json.dumps(identity))
    if closed:
        (folder / "closed.json").write_text(json.dumps({"token": f"t{run_id}", "reason": "over"}))
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    slot(root, "a", 1, "T-1", "claude")
    slot(root, "b", 2, "T-2", "claude")
    slot(root, "c", 3, "T-2", "codex")
    slot(root, "d", 4, "T-3", "codex", closed=True)
    return root


def test_a_given_slot_wins(root: Path) -> None:
    found = find_slot(given=root / "b", start=root / "a" / "tree", roots=[root], run_id="3")
    assert (found.run_id, found.token) == (2, "t2")


def test_a_given_slot_must_be_one(root: Path) -> None:
    with pytest.raises(MailboxError, match=r"run\.json"):
        find_slot(given=root, start=root / "a" / "tree")


@pytest.mark.parametrize("below", ["", "tree", "tree/src"])
def test_the_folder_above_is_found(root: Path, below: str) -> None:
    assert find_slot(start=root / "a" / below, roots=[root], run_id="3").run_id == 1


def test_the_hint_is_believed_when_such_a_run_is_open(root: Path, tmp_path: Path) -> None:
    assert find_slot(start=tmp_path, roots=[root], run_id="3").run_id == 3


@pytest.mark.parametrize(
    ("known", "run_id"),
    [(("", "T-1"), 1), (("codex", ""), 3), (("claude", "T-2"), 2)],
)
def test_the_only_run_that_fits_is_found(root: Path, tmp_path: Path, known: tuple[str, str], run_id: int) -> None:
    agent, task = known
    assert find_slot(start=tmp_path, roots=[root], run_id="99", agent=agent, task=task).run_id == run_id


@pytest.mark.parametrize(("agent", "task"), [("", "T-2"), ("claude", ""), ("", "")])
def test_several_are_listed(root: Path, tmp_path: Path, agent: str, task: str) -> None:
    with pytest.raises(MailboxError) as told:
        find_slot(start=tmp_path, roots=[root], agent=agent, task=task)
    assert f"--slot {root / 'b'}" in str(told.value)
    assert str(root / "d") not in str(told.value)


def test_one_open_run_is_not_taken_unasked(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    slot(root, "a", 1, "T-1", "claude")
    with pytest.raises(MailboxError, match="--slot"):
        find_slot(start=tmp_path, roots=[root])


def test_nothing_open_is_said(tmp_path: Path) -> None:
    with pytest.raises(MailboxError, match="no run is open"):
        find_slot(start=tmp_path, roots=[tmp_path / "ws"], task="T-1")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"run_id": "x"}', "\ud800"])
def test_a_broken_identity_is_no_slot(tmp_path: Path, text: str) -> None:
    folder = slot(tmp_path, "a", 1, "T-1", "claude")
    (folder / "run.json").write_text(text, errors="surrogatepass")
    with pytest.raises(MailboxError):
        find_slot(start=folder / "tree", roots=[tmp_path], task="T-1")
