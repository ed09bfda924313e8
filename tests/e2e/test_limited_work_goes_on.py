"""An agent at its usage limit goes on in its own workspace after the reset; another one starts over with its diff."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.domain.run import RunResult, RunState
from recall.domain.task import TaskState
from tests.support.workshop import Workshop, eventually

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

#: What the first run of a task leaves before its limit: one commit, and one file that is not committed.
HALF_DONE = 'echo half > "$TASK.txt"; commit half; echo loose > loose.txt; '
LIMITED = 'echo "Error: usage limit reached, try again in 2 seconds"; exit 1'
GOES_ON = "printf '%s' \"$PROMPT\" | grep -q 'You go on where you were stopped'"


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    shop = Workshop.create(tmp_path)
    shop.tasks("## T-1 First\nbody of the first task")
    return shop


def prompt(shop: Workshop, run: int) -> str:
    return (shop.state / "runs" / str(run) / "prompt.md").read_text()


def test_it_goes_on_in_its_own_workspace_after_the_reset_and_lands(shop: Workshop) -> None:
    shop.agent("ant", f"if {GOES_ON}; then echo rest >> $TASK.txt; success; else {HALF_DONE}{LIMITED}; fi")
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    first, second = shop.runs()
    assert (first.result, second.result) == (RunResult.RATE_LIMITED, RunResult.LANDED)
    assert (second.continues, second.slot, second.branch, second.base) == (
        first.id, first.slot, first.branch, first.base,
    )  # fmt: skip
    assert second.version > first.version
    assert shop.repo.file("T-1.txt", "main") == b"half\nrest\n"
    assert shop.repo.file("loose.txt", "main") == b"loose\n"
    task = shop.look()["T-1"]
    assert (task.state, task.attempts, task.interruptions, task.kept_run) == (TaskState.DONE, 0, 0, None)
    with shop.store() as store:
        assert store.agents()[0].weight("general").failed == 0
        assert store.check() == []
    assert "body of the first task" in prompt(shop, 2)
    assert "usage limit reached, try again" in prompt(shop, 2)


def test_a_cli_that_can_goes_on_in_its_session(shop: Workshop) -> None:
    event = '{"type":"system","subtype":"init","session_id":"5e55-10"}'
    shop.agent("ant", f"""if [ "$1" = 5e55-10 ]; then success; else echo '{event}'; {HALF_DONE}{LIMITED}; fi""")
    shop.settle()
    script = shop.home / "agents" / "ant.sh"
    more = f'stream = "claude"\nresume_command = ["/bin/bash", "{script}", "{{id}}"]\n'
    settings = (shop.repo.path / "recall.toml").read_text() + more
    shop.repo.commit("a session", {"recall.toml": settings})
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert [run.result for run in shop.runs()] == [RunResult.RATE_LIMITED, RunResult.LANDED]
    assert shop.runs()[0].session == "5e55-10"
    assert "body of the first task" not in prompt(shop, 2)
    assert "outcome --slot" in prompt(shop, 2)


def set_up(shop: Workshop, failover_after: str) -> None:
    """Two agents that do the same: who comes first is limited for hours, who takes over lands."""
    takes_over = "printf '%s' \"$PROMPT\" | grep -q 'Begun before, and left'"
    half = f'{HALF_DONE}echo "Error: usage limit reached, try again in 3 hours"; exit 1'
    script = f'if {takes_over}; then test ! -e loose.txt && echo new > "$TASK.txt" && success; else {half}; fi'
    shop.agent("ant", script)
    shop.agent("bee", script)
    shop.settle()
    text = (shop.repo.path / "recall.toml").read_text()
    changed = text.replace('failover_after = "2s"', f'failover_after = "{failover_after}"')
    if changed != text:
        shop.repo.commit("failover", {"recall.toml": changed})


def test_another_agent_starts_from_main_with_the_diff_in_its_prompt(shop: Workshop) -> None:
    set_up(shop, "2s")
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    first, second = shop.runs()
    assert (first.result, second.result) == (RunResult.RATE_LIMITED, RunResult.LANDED)
    assert first.agent != second.agent
    assert first.settled_at is not None
    assert second.claimed_at - first.settled_at >= 2
    assert second.continues is None
    assert shop.repo.file("T-1.txt", "main") == b"new\n"
    said = prompt(shop, 2)
    assert "+half" in said
    assert "+loose" in said
    assert f"{first.agent} worked on this task and had to stop" in said
    assert "try again in 3 hours" in said
    assert (shop.look()["T-1"].attempts, shop.look()["T-1"].interruptions) == (0, 0)
    parked = shop.repo.git("for-each-ref", "--format=%(refname)", "refs/recall/parked").split()
    assert parked == ["refs/recall/parked/1"]


def test_until_then_the_task_says_for_whom_it_is_kept(shop: Workshop) -> None:
    set_up(shop, "1h")
    with shop.dispatching("--until-done"):
        eventually(lambda: bool(shop.runs()) and shop.runs()[0].state is RunState.SETTLED)
        first = shop.runs()[0]
        why = shop.recall("why", "T-1").stdout
    assert f"{first.agent}'s work on it is kept until then" in why
    assert first.slot is not None
    tree = shop.repo.path / ".recall" / "ws" / first.slot / "tree"
    assert (tree / "loose.txt").read_text() == "loose\n"
    shop.tasks("## T-1 First", "## T-2 Second")
    with shop.dispatching("--until-done"):
        eventually(lambda: len(shop.runs()) == 2)
    assert (tree / "loose.txt").read_text() == "loose\n", "a restart leaves it where it is"


def test_an_answered_question_goes_on_where_it_was_asked(shop: Workshop) -> None:
    asked = "printf '%s' \"$PROMPT\" | grep -q 'You go on where you asked'"
    shop.agent(
        "ant", f'if {asked}; then grep -q half $TASK.txt && success; else {HALF_DONE} $ASK "Which colour?"; fi'
    )
    shop.settle()
    assert shop.dispatch().returncode == 1
    assert shop.recall("answer", "T-1", "blue").returncode == 0
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "> blue" in prompt(shop, 2)
    assert shop.repo.file("loose.txt", "main") == b"loose\n"


@pytest.mark.parametrize("end", ["failure nope", "exit 3"])
def test_after_a_failure_everything_starts_from_main(shop: Workshop, end: str) -> None:
    shop.agent(
        "ant", f"if again; then test ! -e loose.txt && echo new > $TASK.txt && success; else {HALF_DONE}{end}; fi"
    )
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert shop.runs()[1].continues is None
    assert "+loose" not in prompt(shop, 2)
    assert shop.repo.file("T-1.txt", "main") == b"new\n"


def test_an_agent_that_may_not_go_on_by_itself_waits_for_a_person(shop: Workshop) -> None:
    shop.agent("ant", f"if {GOES_ON}; then echo rest >> $TASK.txt; success; else {HALF_DONE}{LIMITED}; fi")
    shop.settle()
    text = (shop.repo.path / "recall.toml").read_text()
    shop.repo.commit("by hand", {"recall.toml": text + "resume = false\n"})
    ended = shop.dispatch()
    assert ended.returncode == 1
    assert len(shop.runs()) == 1
    assert "a person resumes it" in shop.recall("agents").stdout
    assert shop.recall("resume", "ant").returncode == 0
    assert shop.dispatch().returncode == 0
    assert shop.repo.file("T-1.txt", "main") == b"half\nrest\n"


#: Places between two durable effects on the way from a kept workspace to a run in it. By the others only such a run
#: comes; `tests/faults` kills a dispatcher there.
STEPS = ("launch.workspace_made", "launch.run_recorded", "runner.spec_written", "settle.run_settled")


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_on_the_way_loses_nothing(shop: Workshop, step: str) -> None:
    shop.agent("ant", f"if test -e loose.txt; then success; else {HALF_DONE}{LIMITED}; fi")
    shop.settle()
    for nth in ("1", "2"):
        shop.dispatch(env={"RECALL_FAILPOINT": f"{step}#{nth}"})
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert shop.look()["T-1"].attempts == 0
    kept = shop.repo.git("for-each-ref", "--format=%(refname)", "refs/recall/parked").split()
    assert "loose.txt" in shop.on_main() or any("loose.txt" in shop.repo.files(ref) for ref in kept)
    assert shop.strays() == []
    with shop.store() as store:
        assert store.check() == []


def test_an_agent_that_cannot_start_is_suspected_not_its_tasks(shop: Workshop) -> None:
    shop.agent("ant", "exit 127")
    shop.tasks("## T-1 First", "## T-2 Second", "## T-3 Third")
    shop.settle()
    with shop.dispatching("--until-done"):
        eventually(lambda: shop.reasons("agent.suspected") != [])
        status = shop.recall("status").stdout
    assert {task.attempts for task in shop.look().values()} == {0}
    assert "the agent itself may be broken" in status
    assert "`recall resume ant`" in status
