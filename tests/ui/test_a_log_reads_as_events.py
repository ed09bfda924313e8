"""The log of an agent that prints events: read as people read it, raw on a key, followed while the run works."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from recall.domain.stream.spending import Spending
from tests.support.builders import spec, started
from tests.support.driver import Shop, driving, shop_in

SETTINGS = """\
main = "main"
verify = "true"
[agents.ant]
command = ["/bin/true"]
stream = "claude"
[agents.bee]
command = ["/bin/true"]
"""


def said(id_: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {"type": "assistant", "message": {"id": id_, "content": content, "usage": {"output_tokens": 7}}}


def call(id_: str, name: str, **given: str) -> dict[str, Any]:
    return said(f"m-{id_}", {"type": "tool_use", "id": id_, "name": name, "input": given})


def gave(id_: str, text: str) -> dict[str, Any]:
    return {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": id_, "content": text}]}}


class Output:
    """What the agent of a run prints."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._file = folder / "transcript"
        self._file.touch()

    def prints(self, *events: dict[str, Any]) -> None:
        with self._file.open("a") as file:
            file.writelines(json.dumps(event) + "\n" for event in events)


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Generator[Shop]:
    del home
    with shop_in(tmp_path, spec("T-1"), spec("T-2"), settings=SETTINGS) as made:
        yield made


def begin(shop: Shop, task: str, agent: str) -> Output:
    claim = started(shop.store, task, agent=agent)  # type: ignore[arg-type] # the driver's store is the real one
    return Output(shop.session.run_folder(claim.run_id))


def test_events_are_read_followed_and_shown_raw_on_a_key(shop: Shop) -> None:
    ant = begin(shop, "T-1", "ant")
    ant.prints(
        said("m1", {"type": "text", "text": "I look at the settings."}),
        call("t1", "Read", file_path="src/config.py"),
        gave("t1", "1\n2\n3"),
        call("t2", "Edit", file_path="src/config.py", old_string="a\nb", new_string="a\nc\nd"),
    )
    with driving(shop.session) as recall:
        recall.board.select("T-1")
        recall.log.shows("I look at the settings.", "Read src/config.py (3 lines)", "Edited src/config.py  +2 −1")
        recall.log.shows("x shows raw · following").hides("tool_use")
        ant.prints(gave("t2", "ok"), call("t3", "Bash", command="pytest -q"), gave("t3", "40 passed"))
        recall.log.shows("$ pytest -q", "40 passed")
        recall.press("raw").log.shows('"tool_use"', "· raw", "x reads events")
        recall.press("raw").log.shows("40 passed").hides("tool_use")
        ant.prints({"type": "result", "result": "", "total_cost_usd": 0.41, "usage": {"input_tokens": 9}})
        recall.log.shows("9 tokens in, 28 out, $0.41")


def test_what_prints_no_events_is_shown_as_it_came(shop: Shop) -> None:
    begin(shop, "T-2", "bee").prints({"type": "assistant"})
    with driving(shop.session) as recall:
        recall.board.select("T-2")
        recall.log.shows('{"type": "assistant"}', "following").hides("x shows raw")
        recall.press("raw").says("prints no events")


def test_a_run_shows_its_price_beside_its_agent(shop: Shop) -> None:
    begin(shop, "T-1", "ant").prints({"type": "result", "result": "", "total_cost_usd": 0.41})
    begin(shop, "T-2", "bee")
    run = next(run for run in shop.store.open_runs() if run.task == "T-2")
    shop.store.keep_spending(run.id, run.owner, run.version, Spending(cost_usd=1.5))
    with driving(shop.session) as recall:
        recall.board.select("T-1")
        recall.agents.shows("$1.50", "$0.41")


def test_a_long_log_is_read_in_steps(shop: Shop) -> None:
    ant = begin(shop, "T-1", "ant")
    for number in range(3000):
        ant.prints(call(f"t{number}", "Bash", command=f"make {number}"), gave(f"t{number}", "built\n" * 40))
    ant.prints(said("m", {"type": "text", "text": "built it all"}))
    with driving(shop.session) as recall:
        recall.board.select("T-1")
        recall.log.shows("built it all")
