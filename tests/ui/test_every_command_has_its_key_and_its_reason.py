"""The table of commands: keys are unique, a disabled command says why, and each can be carried out."""

from __future__ import annotations

from collections import Counter

import pytest
from textual.binding import Binding
from textual.widget import Widget

from recall.domain.agent import Agent
from recall.domain.overview import Overview
from recall.domain.snapshot import Snapshot
from recall.domain.task import Task, TaskState
from recall.ui.acts import ACTS
from recall.ui.commands import COMMANDS, Command
from recall.ui.context import Context
from recall.ui.details.reference import key_rows
from recall.ui.screens.main import MainScreen
from recall_widgets.agent_list import AgentList
from recall_widgets.log_view import LogView
from recall_widgets.needs_you import NeedsYou
from recall_widgets.office.view import OfficeView
from recall_widgets.queue_view import QueueView
from recall_widgets.task_board import TaskBoard

_EMPTY = Context(Overview("shop", "main", "", 0.0, True, "", "", Snapshot(0.0, (), (), ()), (), (), (), ()))
_NEED_A_TASK = {"requeue", "hold", "cancel", "raise", "lower", "answer", "stop-run"}


def test_ids_keys_and_titles_are_unique() -> None:
    for names in ((one.id for one in COMMANDS), (one.key for one in COMMANDS), (one.title for one in COMMANDS)):
        assert [name for name, count in Counter(names).items() if count > 1] == []


def test_each_command_is_carried_out_in_exactly_one_place() -> None:
    own = [*ACTS, *MainScreen.OWN]
    assert Counter(own) == Counter(one.id for one in COMMANDS if one.act is None)


def test_every_key_is_one_that_all_terminals_pass_on() -> None:
    assert [one.id for one in COMMANDS if "+" in one.key and one.key != "+"] == []
    assert [one.id for one in COMMANDS if len(one.key_name) > 5] == []


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.id)
def test_help_is_a_sentence(command: Command) -> None:
    assert command.help.endswith(".")
    assert command.help[0].isupper()
    assert not command.help.isupper()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.id)
def test_a_command_that_needs_a_task_says_so_when_none_is_selected(command: Command) -> None:
    reason = command.unavailable(_EMPTY)
    assert (reason == "select a task first") == (command.id in _NEED_A_TASK)


def test_a_command_that_the_state_forbids_says_the_way_out() -> None:
    task = Task("main", "T-1", "x", "", "general", 0, 1, TaskState.DONE, "", 0.0)
    context = Context(_EMPTY.overview, task)
    reasons = {one.id: one.unavailable(context) for one in COMMANDS}
    assert reasons["hold"] == "T-1 is done: requeue reopens it"
    assert reasons["answer"] == "T-1 is done, it asks nothing"
    assert reasons["retry"] == "the selected task is not in the merge queue"


def test_only_a_cooldown_can_be_lifted() -> None:
    lift = next(one for one in COMMANDS if one.id == "lift")
    assert lift.unavailable(Context(_EMPTY.overview, agent=Agent("ant"))) == "ant is not cooling down"
    assert lift.unavailable(Context(_EMPTY.overview, agent=Agent("ant", cooling_until=5.0))) == ""


@pytest.mark.parametrize("pane", [TaskBoard, AgentList, QueueView, NeedsYou, LogView, OfficeView])
def test_no_pane_takes_a_command_s_key_for_itself(pane: type[Widget]) -> None:
    taken = {key for key, _ in pane()._bindings}  # pyright: ignore[reportPrivateUsage] - where Textual looks them up
    everywhere = {binding.key for binding in MainScreen.BINDINGS if isinstance(binding, Binding) and binding.priority}
    ours = {one.key for one in COMMANDS if one.id != "open"}
    assert taken & ours <= everywhere


def test_the_help_lists_every_command() -> None:
    text = "\n".join(span.text for row in key_rows() for span in row.left)
    assert [one.id for one in COMMANDS if one.help not in text or one.title not in text] == []
