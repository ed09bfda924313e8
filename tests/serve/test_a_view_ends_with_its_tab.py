"""One visit is one process: it comes with a tab and goes with it, whichever of tab, viewer and server ends first."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import pytest

from recall.domain.run import RunState
from tests.serve.served import Served, serving
from tests.support.browser import Person
from tests.support.driver import Shop
from tests.support.workshop import Workshop, eventually

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


def test_a_closed_tab_leaves_no_process(person: Person, served: Served) -> None:
    first, second = (person.open(served.url).shows("T-1 First") for _ in range(2))
    served.has_viewers(2)
    first.close()
    served.has_viewers(1)
    second.press("2").shows("ant")
    second.close()
    served.has_viewers(0)


def test_a_reloaded_page_has_a_viewer_of_its_own(person: Person, served: Served) -> None:
    tab = person.open(served.url).shows("T-1 First")
    (before,) = served.viewers()
    tab.call("Page.reload")
    eventually(lambda: served.viewers() not in ([], [before]) and before not in served.viewers())
    tab.shows("T-1 First")
    served.has_viewers(1)


def test_what_was_just_asked_for_is_done_although_the_tab_is_closed(
    person: Person, served: Served, shop: Shop
) -> None:
    tab = person.open(served.url).shows("T-1 First")
    tab.press("H").press("?").shows("raw log")  # so it has arrived: a tab that closes may keep a key to itself
    tab.close()
    served.has_viewers(0)
    assert shop.task("T-1").state.value == "on_hold"


def test_leaving_by_key_says_that_it_has_ended_and_opens_again(person: Person, served: Served) -> None:
    tab = person.open(served.url).shows("T-1 First")
    tab.press("q")
    tab.wait(lambda: "This view has ended" in tab.text, "the note")
    served.has_viewers(0)
    tab.press("Enter").shows("T-1 First")
    served.has_viewers(1)


def test_a_viewer_that_was_killed_is_told_in_the_tab(person: Person, served: Served) -> None:
    tab = person.open(served.url).shows("T-1 First")
    (viewer,) = served.viewers()
    os.kill(viewer, signal.SIGKILL)
    tab.wait(lambda: "This view has ended" in tab.text, "the note")
    served.has_viewers(0)


def test_a_viewer_that_hangs_does_not_stay(person: Person, served: Served) -> None:
    tab = person.open(served.url).shows("T-1 First")
    (viewer,) = served.viewers()
    os.kill(viewer, signal.SIGSTOP)
    tab.close()
    served.has_viewers(0)


@pytest.mark.parametrize(("number", "views"), [(signal.SIGINT, 2), (signal.SIGTERM, 1), (signal.SIGHUP, 1)])
def test_the_end_of_the_server_is_the_end_of_every_view(
    person: Person, served: Served, number: signal.Signals, views: int
) -> None:
    tabs = [person.open(served.url).shows("T-1 First") for _ in range(views)]
    assert served.ends(number) == 0
    served.has_viewers(0)
    for tab in tabs:
        tab.wait(lambda tab=tab: "This view has ended" in tab.text, "the note")


def test_a_killed_server_takes_its_viewers_along(person: Person, served: Served) -> None:
    person.open(served.url).shows("T-1 First")
    served.has_viewers(1)
    served.ends(signal.SIGKILL)
    served.has_viewers(0)


def test_so_many_views_and_no_more(served: Served) -> None:
    cookie = served.come_in()
    with contextlib.ExitStack() as open_:
        statuses = [open_.enter_context(served.socket(cookie)).status for _ in range(9)]
        assert statuses == [101] * 8 + [503]
    served.has_viewers(0)
    eventually(lambda: served.ask_for_socket(cookie=cookie).status == 101)


def test_a_broken_recall_toml_is_said_in_the_tab(person: Person, served: Served, shop: Shop) -> None:
    shop.repo.write("recall.toml", "verify = \n")
    tab = person.open(served.url)
    tab.shows("recall.toml")
    tab.wait(lambda: "This view has ended" in tab.text, "the note")


def test_a_module_in_the_repository_does_not_stand_in_for_ours(person: Person, served: Served, shop: Shop) -> None:
    for name in ("recall", "textual", "json", "sitecustomize"):
        shop.repo.write(f"{name}.py", f"open('{name}-ran', 'w').close()\n")
    person.open(served.url).shows("T-1 First")
    assert list(shop.repo.path.glob("*-ran")) == []


# -- who lets the agents work --------------------------------------------------------------------------------------
@pytest.fixture
def workshop(tmp_path: Path, home: Path) -> Workshop:
    shop = Workshop.create(tmp_path)
    shop.agent("ant", f'while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; echo x > "$TASK"; commit it; success')
    shop.tasks("## T-1 First")
    shop.settle()
    assert shop.recall("import").returncode == 0
    return shop


def test_a_view_starts_no_dispatcher(person: Person, workshop: Workshop) -> None:
    with serving(workshop.repo.path) as served:
        tab = person.open(served.url).shows("T-1 First", "nobody dispatches, E takes over")
        tab.press("2").shows("starts T-1 next")
        assert workshop.runs() == []


def test_who_takes_over_in_a_tab_and_closes_it_leaves_agents_at_work(person: Person, workshop: Workshop) -> None:
    with serving(workshop.repo.path) as served:
        tab = person.open(served.url).shows("nobody dispatches, E takes over")
        tab.press("E").shows("dispatching")
        eventually(lambda: [run.state for run in workshop.runs()] == [RunState.RUNNING])
        tab.close()
        served.has_viewers(0)
    assert [run.state for run in workshop.runs()] == [RunState.RUNNING]
    (workshop.home / "go").touch()
    assert workshop.dispatch().returncode == 0, "the next dispatcher adopts it"
    assert "T-1" in workshop.on_main()
