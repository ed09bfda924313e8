"""Agents and verification at each level of the sandbox, with the real program, as whoever runs the tests and as an
ordinary user: what they must reach works, and nothing else, as docs/SECURITY.md says of each level."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from pwd import getpwuid

import pytest

from recall.domain.task import TaskState
from tests.support.anybody import ANYBODY, copy_of_recall, open_place, python_for_anybody
from tests.support.hermetic_git import make_home
from tests.support.tools import need
from tests.support.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

MYSELF = ""
CASES = [
    ("none", MYSELF), ("landlock", MYSELF), ("bwrap", MYSELF), ("user", MYSELF),
    ("none", ANYBODY), ("landlock", ANYBODY), ("bwrap", ANYBODY),
]  # fmt: skip

#: Names what can be written or reached from the current folder, a line each. Nothing of it does harm.
_PROBE = """\
reached=$1; : > "$reached"
attempt() {{ if bash -c "$2" >/dev/null 2>&1; then echo "$1" >> "$reached"; fi; }}
attempt workspace ': > probe.tmp && rm probe.tmp'
attempt scratch '[ "$(dirname "$(mktemp)")" = "$TMPDIR" ]'
attempt pip ': > ~/.cache/pip/probe'
attempt npm ': > ~/.npm/_cacache/probe'
attempt cargo ': > ~/.cargo/registry/probe'
attempt go ': > ~/go/pkg/mod/probe'
attempt network ': < /dev/tcp/127.0.0.1/{port}'
attempt tmp 'probe=$(mktemp -p /tmp) && rm "$probe"'
attempt home ': >> ~/.bashrc'
attempt checkout ': >> {repo}/README.md'
attempt git ': >> {repo}/.git/planted'
attempt store ': >> {repo}/.git/recall/recall.db'
attempt neighbour ': >> ../../planted'
attempt trust 'cd {repo} && {python} -m recall config trust'
"""
#: What only an agent that means harm does. None of it may succeed where there is a fence.
_HARM = """\
attempt main "git -C {repo} branch planted"
attempt config "git -C {repo} config core.hooksPath /tmp/hooks"
attempt objects "rm -rf {repo}/.git/objects/??"
attempt pause "cd {repo} && {python} -m recall pause"
attempt identity "echo x > ../run.json"
attempt slot "mv ../run.json ../run.away"
attempt dispatcher "kill -0 $(cat {repo}/.git/recall/dispatcher.lock)"
"""

CACHES = {"pip", "npm", "cargo", "go"}
OUTSIDE = {"home", "checkout", "git", "store", "neighbour", "trust"}
#: By level. At level user the caches are those of the other user, who has none here.
REACHED = {
    "none": {"workspace", *CACHES, "network", "tmp", *OUTSIDE},
    "landlock": {"workspace", "scratch", *CACHES},
    "bwrap": {"workspace", "scratch", *CACHES},
    "user": {"workspace", "scratch", "tmp"},
}


@pytest.fixture(params=CASES, ids=lambda case: "-".join(filter(None, case)))
def case(request: pytest.FixtureRequest) -> tuple[str, str]:
    level, user = request.param
    if level == "bwrap":
        need("bwrap")
    return level, user


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that anybody can enter, with a home in it that is in force."""
    with open_place() as place:
        home = make_home(place / "home")
        for cache in (".cache/pip", ".npm/_cacache", ".cargo/registry", "go/pkg/mod"):
            (home / cache).mkdir(parents=True)
        with (home / ".gitconfig").open("a") as file:
            file.write("[safe]\n\tdirectory = *\n")  # for the test's own looks at what is another user's
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.delenv("TMPDIR", raising=False)
        yield place


def workshop(place: Path, level: str, user: str) -> Workshop:
    """A project for a copy of Recall that anybody can run; `user` runs it, and it is theirs."""
    shop = Workshop.create(place)
    shop.python, shop.user = python_for_anybody(), user
    shop.variables = copy_of_recall(place / "program")
    shop.top = 'env_pass = ["PYTHON*"]\n'
    shop.extra = f'[workspaces]\nkind = "clone"\n[sandbox]\nlevel = "{level}"\n'
    shop.extra += 'network = "off"\n' if level != "none" else ""
    shop.extra += f'user = "{ANYBODY}"\n' if level == "user" else ""
    return shop


def give_to(user: str, place: Path) -> None:
    if user:
        for path in (place, *place.rglob("*")):
            shutil.chown(path, user)


def test_what_is_reached_is_what_the_level_says_and_the_work_lands(place: Path, case: tuple[str, str]) -> None:
    level, user = case
    if os.geteuid() != 0 and (user or level == "user"):
        pytest.skip("only root can become another user; the tests run as an ordinary one already")
    shop = workshop(place, level, user)
    with socket.create_server(("127.0.0.1", 0)) as server:
        known = {"repo": shop.repo.path, "python": shop.python, "port": server.getsockname()[1]}
        (place / "probe.sh").write_text(_PROBE.format(**known))
        harm = _HARM.format(**known) if level != "none" else ""
        shop.agent("ant", f'set -- reached.txt; . {place}/probe.sh; {harm}\ncommit "all of $(id -un)"; success')
        shop.verify = f"bash {place}/probe.sh reached.tmp"
        shop.tasks("## T-1 Reach out")
        shop.settle()
        before = shop.repo.tip()
        give_to(user, place)
        ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert shop.look()["T-1"].state is TaskState.DONE
    by_agent = set(shop.repo.file("reached.txt", "main").decode().split())
    by_verification = set((shop.repo.path / ".recall/verify/0/reached.tmp").read_text().split())
    assert by_agent == REACHED[level] | {"network"}
    assert by_verification == REACHED[level]
    assert shop.repo.tip("main~1") == before
    assert shop.repo.status() == []
    shop.repo.git("fsck", "--strict")
    at_rest = [path for path in (shop.repo.path / ".recall").rglob("*") if "scratch" not in str(path)]
    assert {path.lstat().st_uid for path in at_rest} == {shop.state.stat().st_uid}
    worked_as = shop.repo.git("log", "-1", "--format=%s", "main").removeprefix("all of ")
    assert worked_as == (ANYBODY if level == "user" else user or getpwuid(os.geteuid()).pw_name)


def test_an_ordinary_dispatcher_says_that_it_cannot_start_agents_as_another_user(place: Path) -> None:
    user = ANYBODY if os.geteuid() == 0 else MYSELF
    shop = workshop(place, "user", user)
    shop.agent("ant", "success")
    shop.tasks("## T-1 One")
    shop.settle()
    give_to(user, place)
    ended = shop.dispatch()
    assert ended.returncode == 2
    assert "only a dispatcher that runs as root can start agents as another user" in ended.stderr
    assert shop.runs() == []
