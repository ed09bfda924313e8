"""recall report: what landed and how large it was, what did not, what waits and what to do next."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from recall.cli.markdown import code, escaped, table
from recall.domain.run import RunResult
from recall.domain.text import cells
from recall.store import SqliteStore
from tests.cli.conftest import Recall
from tests.support.builders import ended, queued, settlement, spec
from tests.support.driver import Shop, shop_in
from tests.support.workshop import Workshop

_NASTY = "[click](javascript:alert(1)) <img src=x> | `x` *b* _i_ \x1b]0;t\x07 @admin #12 https://evil.example"


@pytest.fixture
def shop(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    made = Workshop.create(tmp_path)
    made.agent("ant", 'seq 3 > "$TASK.txt"; success')
    made.agent("bee", f"failure '{_NASTY.replace(chr(27), '').replace(chr(7), '')}'")
    made.tasks(
        "## T-1 Count | to *three*\n- type: web\n- agent: ant",
        "## T-2 Sting\n- agent: bee\n- attempts: 1",
        "## T-3 Wait\n- after: T-2",
    )
    made.settle()
    ended = made.dispatch()
    assert "T-1" in ended.stdout
    monkeypatch.chdir(made.repo.path)
    return made


@pytest.mark.usefixtures("shop")
def test_a_report_of_real_runs_says_what_landed_what_failed_and_what_to_do(cli: Recall) -> None:
    told = cli("report").out
    assert "1 landed" in told
    assert "1 run did not land" in told
    assert re.search(r"\| T-1 +\| Count \\\| to \\\*three\\\* +\| ant +\| 1 file \+3 −0 +\| `[0-9a-f]{12}` +\|", told)
    assert "**failed** 1" in told
    assert "Next: `recall show T-2`, then `recall requeue T-2`\n" in told
    assert re.search(r"\| bee +\| general +\| 1 +\| 0 +\| 0 %", told)
    made = cli("report", "--format", "json").json
    assert made == {**cli("report", "--json").json, "now": made["now"], "since": made["since"],
                    "figures": made["figures"]}  # fmt: skip
    assert made["landed"][0]["size"] == {"files": 1, "added": 3, "removed": 0}
    assert [one["what"] for one in made["waiting"]] == ["T-2"]
    assert made["failures"][0]["runs"][0]["agent"] == "bee"
    assert made["tasks"] == {"done": 1, "needs you": 1, "waiting": 1}


@pytest.mark.usefixtures("shop")
def test_what_an_agent_says_stays_text(cli: Recall) -> None:
    told = cli("report").out
    (line,) = [line for line in told.splitlines() if line.startswith("  - T-2")]
    fence = re.search(r"(`+) ?reported failure", line)
    assert fence is not None, "it holds what GitHub would act upon: it must be code"
    assert line.endswith(fence[1])
    inside = line[fence.end() : -len(fence[1])]
    assert fence[1] not in re.findall("`+", inside)


@pytest.mark.usefixtures("shop")
def test_a_night_in_which_nothing_happened_is_told_shortly(cli: Recall) -> None:
    begun = time.monotonic()
    while "0 landed, 0 runs" not in (told := cli("report", "--since", "1s").out):
        assert time.monotonic() < begun + 20, told
    assert "## Landed" not in told
    assert "## Waits for you" in told


def test_every_thing_that_waits_comes_with_its_next_step(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, cli: Recall
) -> None:
    with shop_in(tmp_path, *(spec(f"T-{n}") for n in range(1, 5))) as shop:
        _ask(shop, "T-1")
        assert shop.store.hold(shop.task("T-2").ref, actor="cli", reason="later") is None
        _, entry = queued(_store(shop), "T-3", agent="ant")
        shop.store.merge_verifying(entry, candidate="d" * 40, onto="b" * 40)
        shop.store.merge_intend(entry, old="b" * 40, new="d" * 40)
        shop.store.merge_waiting(entry, "a.py is changed there", ["a.py"])
        shop.store.put_setting("queue.held", "main was rewritten", actor="test")
        monkeypatch.chdir(shop.repo.path)
        waiting = {one["what"]: one["action"] for one in cli("report", "--json").json["waiting"]}
    assert waiting["T-1"] == 'recall answer T-1 "your answer"'
    assert waiting["T-2"] == "recall unhold T-2"
    assert "recall queue retry T-3" in waiting["T-3"]
    assert "recall resume" in waiting["merge queue"]


def _store(shop: Shop) -> SqliteStore:
    assert isinstance(shop.store, SqliteStore)
    return shop.store


def _ask(shop: Shop, id_: str) -> None:
    claim = ended(_store(shop), id_, agent="ant")
    done = settlement(RunResult.QUESTION, "Which colour?")
    assert shop.store.settle_run(claim.run_id, claim.owner, claim.version, done, actor="dispatcher") is None


# -- text that could be markup ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("plain words, snake_case and 2 < 3", r"plain words, snake_case and 2 \< 3"),
        ("*bold* _slanted_ [a](b)", r"\*bold\* \_slanted\_ \[a\](b)"),
        ("- a list", r"\- a list"),
        ("1. a list", r"1\. a list"),
        ("# a heading", r"\# a heading"),
        ("a\n# b", "a # b"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("back\\slash", r"back\\slash"),
        ("ask @admin", "`ask @admin`"),
        ("see #12", "`see #12`"),
        ("a `tick` of https://x.example", "``a `tick` of https://x.example``"),
        ("`@x`", "`` `@x` ``"),
    ],
)
def test_text_reads_as_it_is_and_is_never_markup(text: str, markdown: str) -> None:
    assert escaped(text) == markdown


@pytest.mark.parametrize("cell", ["a|b", r"a\|b", r"a\\|b", "|", "||", r"\\\|"])
@pytest.mark.parametrize("made", [escaped, code])
def test_no_pipe_ends_a_cell(cell: str, made: Callable[[str], str]) -> None:
    lines = table(("x", "y"), [(made(cell), "next")])
    row = lines[-1]
    ends = len(re.findall(r"(?<!\\)(?:\\\\)*\|", row))
    assert ends == 3, row
    assert len({cells(line) for line in lines}) == 1
