"""What a project must look like after any kills, once the dispatcher has come to its end: asked of git, the store
and the kernel, never of the dispatcher's own words.

Agents of such a project write down what they do (`WITNESS`): every file they made by its blob, every start of an
agent, and every meeting of two agents in one workspace.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from recall.domain.merge import FINAL_MERGE_STATES, MergeState
from recall.domain.run import RunResult
from recall.domain.task import DoneBy, TaskState
from tests.support.workshop import Workshop

#: Shell text in front of every agent: `made FILE` writes down a file that is finished.
WITNESS = """\
exec 9>> "{home}/locks/$(basename "$(dirname "$PWD")")"
flock -n 9 || echo "$TASK in $PWD" >> "{home}/clashes"
echo "$TASK $RECALL_RUN_ID $$" >> "{home}/starts"
made() {{ git hash-object -- "$1" >> "{home}/journal"; }}
"""

#: A user's own work in the checkout while all this goes on.
DIRT = {"notes.txt": b"half a thought\nand no line end", "scratch/new.txt": b"\x00\xffmine\r\n"}


def add_witness(shop: Workshop) -> str:
    (shop.home / "locks").mkdir()
    return WITNESS.format(home=shop.home)


def add_dirt(shop: Workshop) -> None:
    """A tracked file with an edit, and an untracked one, both unrelated to any task."""
    shop.repo.commit("notes", {"notes.txt": "a thought\n"})
    for path, content in DIRT.items():
        shop.repo.write(path, content)


def versions(shop: Workshop) -> dict[str, int]:
    """The fencing version of every task; nothing before there is a store with a list."""
    if not (shop.state / "recall.db").exists():
        return {}
    return {id_: task.lease_version for id_, task in shop.look().items()}


def check_promises(
    shop: Workshop, before: Mapping[str, int], *, waiting: Mapping[str, str] | None = None, dirty: bool = True
) -> None:
    """`before` are the versions at the kills, `waiting` the tasks that end with a person and what their reason
    says. Everything else must be done."""
    _no_process_is_left(shop)
    _every_task_is_where_it_belongs(shop, waiting or {})
    _each_result_landed_once(shop)
    _each_task_had_one_holder_at_a_time(shop, before)
    _no_work_is_gone(shop)
    _the_checkout_is_the_users(shop, dirty=dirty)
    _nothing_lies_around(shop)


def _no_process_is_left(shop: Workshop) -> None:
    assert shop.strays() == []
    home = os.fsencode(shop.home)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            words = _read(entry / "cmdline")
            assert home not in words, f"process {entry.name} is left: {words!r}"


def _every_task_is_where_it_belongs(shop: Workshop, waiting: Mapping[str, str]) -> None:
    tasks = shop.look()
    with shop.store() as store:
        told = "\n".join(f"{one.task} {one.kind} {one.reason}" for one in store.events_since(0, 10_000))
        assert store.open_runs() == [], told
        assert store.merges() == [], told
    for id_, task in tasks.items():
        if id_ in waiting:
            assert task.state is TaskState.NEEDS_PERSON, told
            assert waiting[id_] in task.reason
        else:
            assert (task.state, task.done_by) == (TaskState.DONE, DoneBy.LANDED), f"{task}\n{told}"


def _each_result_landed_once(shop: Workshop) -> None:
    """Main, not the store, is asked: which commits it has, of which run of which task."""
    form = "--format=%H%x09%s%x09%(trailers:key=Recall-Task,valueonly,separator=%x2c)%x09" + (
        "%(trailers:key=Recall-Run,valueonly,separator=%x2c)"
    )
    rows = [line.split("\t") for line in shop.repo.git("log", "main", form).splitlines()]
    landed = [(task, run, subject) for _, subject, task, run in rows if task]
    assert max(Counter(landed).values(), default=0) <= 1, landed
    tasks = {id_: task for id_, task in shop.look().items() if task.state is TaskState.DONE}
    runs = {run.id: run for run in shop.runs()}
    assert {task for task, _, _ in landed} == set(tasks)
    for id_, task in tasks.items():
        (run_id,) = {int(run) for one, run, _ in landed if one == id_}
        assert (runs[run_id].task, runs[run_id].result) == (id_, RunResult.LANDED)
        assert task.done_commit in {commit for commit, *_ in rows}
        assert (
            shop.repo.run("merge-base", "--is-ancestor", str(task.done_commit), "main", check=False).returncode == 0
        )
    with shop.store() as store:
        entries = store.merges(open_only=False)
    assert {entry.state for entry in entries} <= FINAL_MERGE_STATES
    assert Counter(entry.task for entry in entries if entry.state is MergeState.LANDED) == Counter(tasks.keys())


def _each_task_had_one_holder_at_a_time(shop: Workshop, before: Mapping[str, int]) -> None:
    with shop.store() as store:
        tasks, runs = {task.id: task for task in store.tasks()}, store.runs()
    for id_, task in tasks.items():
        held = [run.version for run in runs if run.task == id_]
        assert held == sorted(set(held)), f"{id_}: {held}"
        assert task.lease_version >= max([*held, before.get(id_, 0)])
    clashes = shop.home / "clashes"
    assert not clashes.exists(), clashes.read_text()


def _no_work_is_gone(shop: Workshop) -> None:
    journal = shop.home / "journal"
    made = set(journal.read_text().split()) if journal.exists() else set[str]()
    kept = shop.repo.git("rev-list", "--objects", "--branches", "--glob=refs/recall/*").splitlines()
    assert made - {line.split(" ")[0] for line in kept} == set()


def _the_checkout_is_the_users(shop: Workshop, *, dirty: bool) -> None:
    expected = [" M notes.txt", "?? scratch/new.txt"] if dirty else []
    assert shop.repo.status() == expected
    for path, content in DIRT.items() if dirty else ():
        assert (shop.repo.path / path).read_bytes() == content
    assert shop.repo.git("symbolic-ref", "HEAD") == "refs/heads/main"


def _nothing_lies_around(shop: Workshop) -> None:
    git_dir = shop.repo.git_dir
    locks = [*git_dir.glob("*.lock"), *git_dir.glob("refs/**/*.lock"), *git_dir.glob("worktrees/*/*.lock")]
    assert [lock for lock in locks if lock.name != "recall.lock"] == []
    assert "prunable" not in shop.repo.git("worktree", "list", "--porcelain")
    refs = shop.repo.git("for-each-ref", "--format=%(refname)").splitlines()
    landed = [run for run in shop.runs() if run.result is RunResult.LANDED]
    unwanted = {f"refs/heads/{run.branch}" for run in landed}
    unwanted |= {f"refs/recall/{kind}/{run.id}" for run in landed for kind in ("parked", "result-base", "base")}
    assert unwanted.intersection(refs) == set()
    assert [ref for ref in refs if ref.startswith(("refs/recall/landing/", "refs/recall/base/"))] == []
    assert shop.repo.run("fsck", "--connectivity-only", "--no-dangling", check=False).returncode == 0


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""
