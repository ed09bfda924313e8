"""recall stats: a page, JSON, and Prometheus' text format, from what the real store keeps."""

from __future__ import annotations

import re
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta

import click
import pytest

from recall.cli.since import moment_before
from recall.domain.agent import AgentSpec
from recall.domain.run import RunResult
from recall.domain.stream.spending import Spending
from recall.store import SqliteStore
from tests.cli.conftest import Recall, opened
from tests.support.builders import claimed, ended, import_specs, landed, settlement, spec
from tests.support.hermetic_git import Repo

Sample = tuple[str, dict[str, str], float]

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
_SAMPLE = re.compile(rf"({_NAME})(?:\{{((?:{_LABEL},?)*)\}})? (\S+)")


def parsed(text: str) -> tuple[dict[str, str], list[Sample]]:
    """Read Prometheus' text format as strictly as its grammar is: the types of metrics, and the samples."""
    types: dict[str, str] = {}
    samples: list[Sample] = []
    for line in text.splitlines():
        if line.startswith("# HELP "):
            assert re.fullmatch(rf"# HELP {_NAME} [^\n]+", line), line
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types, f"{name} has two types"
            types[name] = kind
        else:
            found = _SAMPLE.fullmatch(line)
            assert found is not None, line
            name, labels = found[1], {key: _plain(value) for key, value in re.findall(_LABEL, found[2] or "")}
            family = name if name in types else re.sub("_(sum|count)$", "", name)
            assert list(types)[-1] == family, f"{name} does not stand under its type"
            samples.append((name, labels, float(found[5])))
    assert len({(name, tuple(sorted(labels.items()))) for name, labels, _ in samples}) == len(samples)
    return types, samples


def _plain(value: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], value)


@contextmanager
def _store(repo: Repo) -> Generator[SqliteStore]:
    store = opened(repo.path)
    assert isinstance(store, SqliteStore)
    with closing(store):
        yield store


def _fill(repo: Repo, *, type_: str = "web") -> None:
    """One task landed, one failed with a price, one met a limit."""
    with _store(repo) as store:
        store.sync_agents([AgentSpec("ann"), AgentSpec("bob")])
        import_specs(store, spec("T-1", type_=type_), spec("T-2"), spec("T-3"))
        landed(store, "T-1", agent="ann")
        for id_, agent, result in (("T-2", "ann", RunResult.FAILED), ("T-3", "bob", RunResult.RATE_LIMITED)):
            claim = ended(store, id_, agent=agent)
            spending = Spending(None, 41_200, 3_100, 38_000, 0.41) if agent == "ann" else Spending()
            store.keep_spending(claim.run_id, claim.owner, claim.version, spending)
            done = settlement(result, now=time.time())
            assert store.settle_run(claim.run_id, claim.owner, claim.version, done, actor="dispatcher") is None


def test_an_empty_store_knows_nothing_and_says_so(project: Repo, cli: Recall) -> None:
    shown = cli("stats")
    assert shown.code == 0
    assert project.path.name in shown.out
    assert "Landed  0" in shown.out
    assert "no run came to an end" in shown.out
    assert "not known" in shown.out
    assert cli("stats", "--json").json["landed"]["count"] == 0


def test_the_page_says_what_came_of_it_and_what_it_cost(imported: Repo, cli: Recall) -> None:
    _fill(imported)
    shown = cli("stats").out
    assert "Landed  1" in shown
    assert re.search(r"ann +web +1 of 1 landed +100 % +21 % to 100 %", shown)
    assert re.search(r"ann +general +0 of 1 landed +0 % +0 % to 79 % +1 failed", shown)
    assert re.search(r"ann +general +1 +41\.2k +3\.1k +38\.0k +\$0\.41", shown)
    assert re.search(r"bob +cooled .* 1 runs cut off", shown)
    assert re.search(r"bob +general +1 +not known", shown)


def test_json_has_every_figure_and_null_for_what_is_not_known(imported: Repo, cli: Recall) -> None:
    _fill(imported)
    told = cli("stats", "--json").json
    assert told["results"] == {"failed": 1, "landed": 1, "rate_limited": 1}
    assert told["landed"]["hours"][0]["landed"] == 1
    assert told["leases"]["gaps"]["median"] is None
    assert told["leases"]["ttl"] == 300.0
    assert told["times"]["task"]["count"] == 1
    by_agent = {(one["agent"], one["type"]): one for one in told["spending"]}
    assert by_agent["ann", "general"]["cost_usd"] == 0.41
    assert by_agent["bob", "general"]["cost_usd"] is None
    assert told["limits"][0]["results"] == {"rate_limited": 1}


def test_only_what_happened_since_is_counted(imported: Repo, cli: Recall) -> None:
    _fill(imported)
    assert cli("stats", "--since", "1h", "--json").json["landed"]["count"] == 1
    begin = datetime.now().astimezone() + timedelta(seconds=0.1)
    while datetime.now().astimezone() < begin:
        time.sleep(0.01)
    assert cli("stats", "--since", begin.isoformat(), "--json").json["landed"]["count"] == 0


def test_a_late_write_and_a_takeover_are_counted(imported: Repo, cli: Recall) -> None:
    with _store(imported) as store:
        import_specs(store, spec("T-1"))
        late = claimed(store, "T-1", agent="ann", ttl=0.01)
        deadline = time.monotonic() + 20
        while not store.recycle():
            assert time.monotonic() < deadline
        claimed(store, "T-1", agent="ann", owner="ann-2")
        refused = store.release(late.ref, late.owner, late.version, actor="agent ann", reason="too late")
        assert refused is not None
    leases = cli("stats", "--json").json["leases"]
    assert (leases["ran_out"], leases["taken_over"], leases["refused"]) == (1, 1, 1)


def test_prometheus_text_obeys_its_grammar_whatever_a_label_holds(imported: Repo, cli: Recall) -> None:
    _fill(imported, type_='we"b\\ }{ x')
    types, samples = parsed(cli("stats", "--prometheus").out)
    assert types["recall_runs_total"] == "counter"
    assert types["recall_task_seconds"] == "summary"
    assert ("recall_landed_total", {}, 1.0) in samples
    assert ("recall_runs_total", {"agent": "ann", "type": 'we"b\\ }{ x', "result": "landed"}, 1.0) in samples
    assert ("recall_task_seconds_count", {}, 1.0) in samples
    assert ("recall_tokens_total", {"agent": "ann", "type": "general", "kind": "input"}, 41_200.0) in samples
    assert ("recall_agent_state", {"agent": "bob", "state": "cooling"}, 1.0) in samples


def test_prometheus_counts_everything_or_nothing(project: Repo, cli: Recall) -> None:
    assert project.path.exists()
    assert cli("stats", "--prometheus", "--since", "1h").code == 2
    assert cli("stats", "--prometheus", "--json").code == 2


# -- since when ------------------------------------------------------------------------------------------------
_AT = datetime.fromisoformat("2026-11-30T07:30").astimezone()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("22:00", "2026-11-29T22:00"),
        ("7:15", "2026-11-30T07:15"),
        ("7:30", "2026-11-30T07:30"),
        ("today", "2026-11-30T00:00"),
        ("yesterday", "2026-11-29T00:00"),
        ("8h", "2026-11-29T23:30"),
        ("1h30m", "2026-11-30T06:00"),
        ("2026-11-28", "2026-11-28T00:00"),
        (" 2026-11-28T18:05 ", "2026-11-28T18:05"),
    ],
)
def test_a_moment_is_said_in_many_ways(text: str, found: str) -> None:
    assert moment_before(text, _AT.timestamp()) == datetime.fromisoformat(found).astimezone().timestamp()


@pytest.mark.parametrize("text", ["", "soon", "25:00", "-8h", "2026-13-01", "0001-01-01T00:00", "9999-01-01", "8"])
def test_what_is_no_moment_is_refused_with_what_is(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"yet to come|22:00.*8h"):
        moment_before(text, _AT.timestamp())


def test_a_wrong_moment_is_a_wrong_command_line(project: Repo, cli: Recall) -> None:
    assert project.path.exists()
    ended = cli("stats", "--since", "soon")
    assert (ended.code, "8h" in ended.err) == (2, True)
