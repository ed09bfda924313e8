"""`recall agents set`: what a person chooses for an agent wins, and is shown as such."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Recall

pytestmark = pytest.mark.usefixtures("imported")


def _ann(cli: Recall) -> dict[str, object]:
    return next(row for row in cli("agents", "--json").json if row["name"] == "ann")


def test_an_agent_is_disabled_and_enabled_again(cli: Recall) -> None:
    ended = cli("agents", "set", "ann", "--disable")
    assert (ended.code, ended.out) == (0, "ann: disabled by your choice (recall.toml: enabled), 1 at once\n")
    assert _ann(cli)["enabled"] is False
    assert "disabled by you" in cli("why", "ann").out
    assert cli("next", "--agent", "ann").code != 0
    assert cli("agents", "set", "ann", "--enable").code == 0
    assert _ann(cli)["enabled"] is True


def test_the_list_shows_what_was_chosen_until_the_reset(cli: Recall) -> None:
    assert cli("agents", "set", "ann", "--parallel", "3").code == 0
    assert "3 at once by your choice (recall.toml: 1)" in cli("agents").out
    assert cli("agents", "set", "ann", "--reset").out == "ann: enabled, 1 at once\n"
    assert "by your choice" not in cli("agents").out


@pytest.mark.parametrize("args", [[], ["--reset", "--parallel", "2"], ["--parallel", "0"]], ids=str)
def test_a_wish_that_is_none_is_a_wrong_command_line(cli: Recall, args: list[str]) -> None:
    assert cli("agents", "set", "ann", *args).code == 2
    assert _ann(cli)["parallel"] == 1


def test_what_holds_already_is_refused(cli: Recall) -> None:
    ended = cli("agents", "set", "ann", "--reset")
    assert ended.code == 1
    assert "as recall.toml says already" in ended.err
