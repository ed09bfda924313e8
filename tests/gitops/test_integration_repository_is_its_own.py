"""The dispatcher's own git dir: nothing of the user's runs in it, nothing that entered is lost from outside."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from recall.gitops.commits import Commit, add_trailers
from recall.gitops.integration import IntegrationRepository, borrowing, config_text
from recall.gitops.locate import locate
from recall.gitops.repository import Repository
from tests.gitops.ground import NOW
from tests.support.hermetic_git import Repo


def prepared(repo: Repo, state: Path | None = None) -> IntegrationRepository:
    location = locate(repo.path)
    integration = IntegrationRepository(Repository(location, "main", state or location.state_dir))
    assert integration.prepare(NOW) == ""
    return integration


def test_it_sees_the_users_objects_but_no_branch_or_tag(repo: Repo) -> None:
    repo.git("tag", "v1")
    see = Repo(prepared(repo).git_dir)
    assert see.has(repo.tip())
    assert see.git("for-each-ref") == ""


def test_only_harmless_settings_are_copied(repo: Repo) -> None:
    wanted = {
        "user.name": 'Quote "me" \\ #;',
        "core.autocrlf": "input",
        "core.ignorecase": "false",
        "i18n.commitencoding": "utf-8",
        "filter.lfs.clean": "git-lfs clean -- %f",
        "filter.lfs.process": "git-lfs filter-process",
        "filter.lfs.required": "true",
    }
    unwanted = {
        "core.hookspath": "/x",
        "core.fsmonitor": "/x",
        "filter.x.clean": "/x",
        "filter.lfs.smudge": "sh -c evil",
        "merge.x.driver": "/x",
        "alias.status": "!evil",
        "core.worktree": "/x",
        "include.path": "/x",
    }
    for key, value in (wanted | unwanted).items():
        repo.git("config", "--file", ".git/config", key, value)
    see = Repo(prepared(repo).git_dir)
    listed = dict(entry.split("\n", 1) for entry in see.git("config", "--local", "-z", "-l").split("\0") if entry)
    assert {key: listed.get(key) for key in wanted} == wanted
    assert not set(listed) & set(unwanted)
    assert listed["lfs.storage"] == str(repo.path / ".git/lfs")


def test_settings_and_excludes_follow_at_the_next_start(repo: Repo) -> None:
    integration = prepared(repo)
    repo.git("config", "user.name", "New Name")
    (repo.git_dir / "info").mkdir(exist_ok=True)
    (repo.git_dir / "info/exclude").write_text("secret.txt\n")
    integration.prepare(NOW)
    assert integration.git("config", "user.name").text == "New Name"
    assert (integration.git_dir / "info/exclude").read_text() == "secret.txt\n"


@pytest.mark.parametrize("text", ["plain", 'a "b"', "back\\slash", "tab\there", "line\nfeed", "# ; comment", "ä", ""])
def test_any_value_survives_the_configuration_file(tmp_path: Path, repo: Repo, text: str) -> None:
    file = tmp_path / "config"
    part = text.replace("\n", " ") or "x"  # the one thing that a section's name cannot hold
    file.write_text(config_text([("user.name", text), (f"filter.{part}.Clean", text)]))
    listed = repo.git("config", "--file", str(file), "-z", "-l")
    assert listed == f"user.name\n{text}\0filter.{part}.clean\n{text}\0"


# -- rebuilding ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("damage", ["HEAD", "objects", "refs"])
def test_a_broken_one_is_rebuilt_and_the_old_kept(repo: Repo, damage: str) -> None:
    integration = prepared(repo)
    place = integration.git_dir / damage
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    said = integration.prepare(NOW)
    assert Repo(integration.git_dir).has(repo.tip())
    if damage != "objects":
        assert "new one was built" in said
        assert list(integration.git_dir.parent.glob("integration.broken-*"))


def test_results_survive_a_restart(repo: Repo) -> None:
    integration = prepared(repo)
    integration.pin(3, repo.tip())
    assert integration.prepare(NOW) == ""
    assert Repo(integration.git_dir).tip("refs/recall/run/3") == repo.tip()


def test_a_result_that_cannot_be_read_is_told(repo: Repo) -> None:
    integration = prepared(repo)
    ref = integration.git_dir / "refs/recall/run/3"
    ref.parent.mkdir(parents=True)
    ref.write_text("1" * 40 + "\n")
    assert "refs/recall/run/3" in integration.prepare(NOW)
    assert not ref.exists()


def test_locks_of_a_killed_git_go_and_live_ones_stay(repo: Repo) -> None:
    integration = prepared(repo)
    old, live = integration.git_dir / "refs/old.lock", integration.git_dir / "refs/live.lock"
    for lock, age in ((old, 3600), (live, 1)):
        lock.write_text("")
        os.utime(lock, (NOW - age, NOW - age))
    integration.prepare(NOW)
    assert (old.exists(), live.exists()) == (False, True)


# -- carrying -----------------------------------------------------------------------------------------------------
def test_carried_commits_are_in_a_pack_of_its_own(repo: Repo, tmp_path: Path) -> None:
    integration = prepared(repo, tmp_path / "state")
    base = repo.tip()
    repo.switch("work", create=True)
    tip = repo.commit("work", {"big": os.urandom(100_000)})
    assert integration.carry(tip, [base]) is None
    integration.pin(1, tip)
    repo.switch("main")
    repo.git("branch", "-D", "work")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    assert not repo.has(tip)
    see = Repo(integration.git_dir)
    assert len(see.file("big", tip)) == 100_000
    see.git("fsck", "--strict", "--no-dangling")


def test_a_clones_objects_are_read_without_its_configuration(repo: Repo, home: Path, tmp_path: Path) -> None:
    integration = prepared(repo)
    clone = repo.clone(tmp_path / 'a "clone": x', "--shared")
    tip = clone.commit("work", {"x": "x"})
    trap = home / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {home}/pwned\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "uploadpack.packObjectsHook", "core.alternateRefsCommand"):
        clone.git("config", key, str(trap))
    assert integration.carry(tip, [repo.tip()], clone.path / ".git/objects") is None
    shutil.rmtree(clone.path)
    assert Repo(integration.git_dir).file("x", tip) == b"x"
    assert not (home / "pwned").exists()


def test_missing_objects_are_refused_in_words(repo: Repo) -> None:
    refused = prepared(repo).carry("1" * 40, [repo.tip()])
    assert refused is not None
    assert "cannot be taken over" in refused.reason


def test_a_shallow_clone_works_and_is_copied(repo: Repo, tmp_path: Path) -> None:
    for number in range(3):
        repo.commit(f"c{number}", {f"f{number}": "x"})
    shallow = repo.clone(tmp_path / "shallow", "--depth", "1")
    integration = prepared(shallow)
    see = Repo(integration.git_dir)
    assert see.git("rev-list", "--count", shallow.tip()) == "1"
    base = shallow.tip()
    tip = shallow.commit("work", {"w": "w"})
    assert integration.carry(tip, [base]) is None
    shallow.git("fetch", "-q", "--unshallow")
    assert integration.carry(tip, [base]) is None
    assert see.git("rev-list", "--count", tip) == "5"


def test_sha256_repositories_work(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "new"
    path.mkdir()
    repo = Repo(path)
    repo.git("init", "-q", "-b", "main", "--object-format=sha256")
    base = repo.commit("start", {"x": "x"})
    tip = repo.commit("work", {"y": "y"})
    integration = prepared(repo)
    assert integration.carry(tip, [base]) is None
    (commit,) = integration.commits([tip])
    assert commit.oid("sha256") == tip


# -- commits as bytes ---------------------------------------------------------------------------------------------
def test_a_commit_taken_apart_and_put_together_is_the_same(repo: Repo) -> None:
    integration = prepared(repo)
    repo.run("commit", "-q", "--allow-empty", "-F", "-", "--cleanup=verbatim", stdin=b"\n odd\n\n\nbody \n\n")
    for oid, commit in zip(oids := repo.git("rev-list", "--all").split(), integration.commits(oids), strict=True):
        assert commit.oid("sha1") == oid


def test_signatures_do_not_survive_a_rewrite() -> None:
    raw = (
        b"tree 1\nparent 2\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n"
        b"gpgsig -----BEGIN\n more\n \n end\nencoding x\n\nmessage\n"
    )
    commit = Commit.parse(raw)
    assert commit.raw == raw
    assert commit.moved("3", ["4", "5"]).raw == (
        b"tree 3\nparent 4\nparent 5\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\nencoding x\n\nmessage\n"
    )


def test_stored_commits_are_found(repo: Repo) -> None:
    integration = prepared(repo)
    fresh = Commit.new(repo.tree(), [repo.tip()], b"A <a@b> 1 +0000", b"A <a@b> 1 +0000", b"m\n")
    integration.store([fresh])
    assert Repo(integration.git_dir).message(fresh.oid("sha1")).strip() == "m"


@pytest.mark.parametrize(
    "message",
    [
        "subject\n",
        "subject\n\nbody\n",
        "subject\n\nbody\n\nSigned-off-by: A <a@b>\n",
        "subject\n\nbody\n\nCo-authored-by: A <a@b>\nCloses: #1\n\n\n",
        "Fix: not a trailer\n",
        "subject\n\nNote that: this is prose\nand goes on here\n",
        "subject\n\nprose line\n(cherry picked from commit 1234)\n",
        "subject\n\nA: b\n continued\nC: d\n",
        "subject\n\nbody\n\n\n\nSigned-off-by: A <a@b>\n",
    ],
)
def test_trailers_stand_where_git_puts_them(repo: Repo, message: str) -> None:
    want = repo.git("interpret-trailers", "--trailer", "Recall-Run: 7", "--no-divider", stdin=message.encode())
    assert add_trailers(message.encode(), {"Recall-Run": "7"}).decode().rstrip("\n") == want.rstrip("\n")


def test_forged_trailers_are_replaced() -> None:
    got = add_trailers(b"s\n\nRecall-Run: 1\nCloses: #1\nrecall-run: 2\n", {"Recall-Run": "7\nEvil: x"})
    assert got == b"s\n\nCloses: #1\nRecall-Run: 7 Evil: x\n"


@pytest.mark.parametrize("name", ["plain", "with:colon", 'with "quotes"', "back\\slash"])
def test_object_folders_of_any_name_can_be_borrowed(repo: Repo, tmp_path: Path, name: str) -> None:
    other = Repo.create(tmp_path / name)
    tip = other.commit("x", {"x": "x"})
    assert prepared(repo).git("cat-file", "-e", tip, env=borrowing(other.path / ".git/objects"), check=False).ok
