"""Every command, in a real terminal and in a project whose task titles, file names, commits, branches, reports and
output all hold what a terminal would obey: not one byte of that comes out, with colours or without."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from recall.cli.root import COMMANDS
from recall.domain.task import TaskState
from tests.support.many_commands import MARK
from tests.support.terminal import terminal
from tests.support.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

#: A clipboard write, a title, a clear, C1 forms, a bell, a link, leaving the other screen, bidirectional overrides.
HOSTILE = (
    "\x1b]52;c;aGk=\x07\x1b]0;t\x07\x1b[2J\x1b[35m\x9b2J\x9d0;t\x9c\x07\x08\x7f\x1b]8;;http://x\x1b\\y\x1b[?1049l"
    "\u202ereversed\u2066z"
)
#: What git allows in the name of a branch.
NAMED = "theirs\u202e\u009b2J"
#: Everything of that, but for line ends and tabs.
OBEYED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
#: Recall's own: plain, bold, dim, italic, red and green; and where `--watch` writes over what it wrote.
OURS = re.compile(r"\x1b\[(?:(?:[0123]|2;3|3[12])m|[HKJ])")

SHOWN: dict[str, list[list[str]]] = {
    "init": [["init"]],
    "import": [["import", "--dry-run"], ["import"]],
    "export": [["export"]],
    "status": [["status"], ["status", "--json"], ["status", "--all", "--watch"]],
    "why": [["why", "T-1"], ["why", "T-2"], ["why", "T-3"], ["why", "ant"]],
    "show": [["show", "T-1"], ["show", "T-2"], ["show", "T-3"], ["show", "1"]],
    "runs": [["runs"], ["runs", "--json"]],
    "log": [["log"], ["log", "--json"], ["log", "--follow"], ["log", "1"], ["log", "1", "--raw"]],
    "stats": [["stats"]],
    "report": [["report", "--since", "24h"]],
    "agents": [["agents"]],
    "hold": [["hold", "T-4", "--reason", HOSTILE]],
    "unhold": [["unhold", "T-4"]],
    "prioritize": [["prioritize", "T-4", "5"]],
    "answer": [["answer", "T-3", HOSTILE]],
    "requeue": [["requeue", "T-2"]],
    "cancel": [["cancel", "T-2"]],
    "finish": [["finish", "T-4"]],
    "resolve": [["resolve"], ["resolve", "T-5"], ["resolve", "T-5", "--base"], ["resolve", "T-5", "--json"]],
    "workspaces": [["workspaces"], ["workspaces", "restore", "2"]],
    "queue": [["queue"]],
    "pause": [["pause", "ant"], ["pause", HOSTILE]],
    "resume": [["resume", "ant"]],
    "cooldown": [["cooldown", "ant"]],
    "explain-log": [["explain-log", "hostile.log"]],
    "config": [["config", "show"], ["config", "trust"]],
    "doctor": [["doctor"]],
    "completion": [["completion", "bash"]],
    "next": [["next", "--agent", "ant"]],
    "heartbeat": [["heartbeat", "T-9" + HOSTILE]],
    "outcome": [["outcome", "T-9" + HOSTILE, "--result", "success"]],
    "ask": [["ask", HOSTILE]],
    "release": [["release", "T-9" + HOSTILE]],
    "effect": [["effect", "list"], ["effect", HOSTILE]],
}
#: They start a server or a show of their own, and print nothing of this project.
ELSEWHERE = {"serve", "rehearse"}

#: An agent that says, names, commits and reports nothing else. For T-5 it plays the user as well, who meets it.
_AGENT = """\
H=$(cat "{home}/hostile"); printf '%s\\n' "$H"; F=$(printf '%s' "$H" | tr / _); cat "{home}/events"
case "$TASK" in
T-1) echo x > "one$F.txt"; commit "did $H"; success "$H";;
T-2) echo x > "two$F.txt"; commit "no $H"; failure "$H";;
T-3) $ASK "which $H";;
T-5) printf 'task %s\\n' "$H" > "met$F.txt"; commit "mine $H"
     cd "{home}/repo"; printf 'main %s\\n' "$H" > "met$F.txt"; git add met*; git commit -qm "theirs $H"; cd -
     success "$H";;
esac
"""
_SAID = [
    {"type": "text", "text": f"saying {HOSTILE}"},
    {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": f"ls {HOSTILE}"}},
    {"type": "tool_use", "id": "2", "name": HOSTILE, "input": {"file_path": HOSTILE}},
]
_EVENTS = [
    {"type": "system", "subtype": "init", "session_id": HOSTILE, "model": HOSTILE},
    *({"type": "assistant", "message": {"content": [said]}} for said in _SAID),
]


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    shop = Workshop.create(tmp_path)
    shop.settings = shop.settings.replace("[run]\n", '[merge]\nconflicts = "person"\n[run]\nattempts = 1\n')
    (tmp_path / "hostile").write_text(HOSTILE)
    (tmp_path / "events").write_text("".join(f"{json.dumps(event)}\n" for event in _EVENTS))
    shop.agent("bee", "exit 0")
    shop.agent("ant", _AGENT.format(home=tmp_path), stream="claude")
    titled = [f"## T-{number} Title {HOSTILE}\n\n- agents: ant\n\nBody {HOSTILE}" for number in (1, 2, 3, 5)]
    shop.tasks(*titled, f"## T-4 Later {HOSTILE}\n- after: T-2\n")
    shop.repo.write("hostile.log", f"{HOSTILE}\nError: 429 rate limit {HOSTILE}\n")
    shop.settle()
    shop.repo.branch(NAMED)
    return shop


def test_each_of_them(shop: Workshop) -> None:
    assert set(SHOWN) | ELSEWHERE == set(COMMANDS), "every command is shown, or said to print nothing of a project"
    ended = shop.dispatch()
    assert OBEYED.search(ended.stdout + ended.stderr) is None, ended.stdout
    tasks = shop.look()
    assert set(tasks) >= {"T-1", "T-2", "T-3"}, ended.stdout + ended.stderr
    assert tasks["T-1"].state is TaskState.DONE, ended.stdout
    assert {tasks[name].state for name in ("T-2", "T-3", "T-5")} == {TaskState.NEEDS_PERSON}
    assert "conflict" in tasks["T-5"].reason
    commands = [argv for each in SHOWN.values() for argv in each]
    coloured, plain = printed(shop, commands, {}), printed(shop, commands, {"NO_COLOR": "1"})
    assert any("\x1b[1m" in said for said in coloured), "colours are among it"
    found: dict[str, str] = {}
    for argv, said in [*zip(commands, map(without_ours, coloured), strict=True), *zip(commands, plain, strict=True)]:
        if bad := OBEYED.search(OURS.sub("", said) if "--watch" in argv else said):
            found[" ".join(argv[:2])] = said[max(0, bad.start() - 60) : bad.end() + 20]
    assert found == {}
    assert [" ".join(argv) for argv, said in zip(commands, coloured, strict=True) if not said.strip()] == []


def without_ours(said: str) -> str:
    return OURS.sub("", said)


def printed(shop: Workshop, commands: list[list[str]], env: dict[str, str]) -> list[str]:
    """Give what each of the commands prints, all of them in one terminal."""
    listed = shop.home / "commands"
    listed.write_text(json.dumps(commands))
    path = os.pathsep.join([str(Path(__file__).parents[2]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    program = [sys.executable, "-m", "tests.support.many_commands", str(listed)]
    with terminal(program, shop.repo.path, env={"PYTHONPATH": path, **env}) as screen:
        assert screen.ends(seconds=90) == 0
        said = screen.output.decode("utf-8", "surrogateescape")
    return re.split(rf"{MARK} \d+\r\n", said)[1:]
