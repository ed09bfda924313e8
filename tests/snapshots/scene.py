"""One evening in a shop: the states that a task, an agent or a merge entry can be seen in, at a clock that stands."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from recall.bootstrap import take_dispatcher_lock
from recall.domain.agent import AgentSpec
from recall.domain.conflict import ConflictedFile, ConflictKind, ConflictRecord, Hunk, LandedChange, RecordedFile
from recall.domain.run import Claim, RunResult
from recall.domain.work import Conflict
from recall.engine.resolve import ConflictView
from recall.store import open_store
from tests.support.builders import SeededRng, ref, settlement, spec
from tests.support.clock import FakeClock
from tests.support.driver import Shop, shop_in

_SETTINGS = """\
main = "main"
verify = "pytest -q"
[ui]
glyphs = "unicode"
[agents.claude]
command = ["/bin/true"]
[agents.codex]
command = ["/bin/true"]
parallel = 2
[agents.gemini]
command = ["/bin/true"]
[agents.grok]
command = ["/bin/true"]
"""

_TASKS = (
    spec("T-A01", title="A place for settings", type_="core"),
    spec("T-A04", title="Say the version", type_="text"),
    spec(
        "T-B02", "T-A01", title="Parse the config", type_="core", body="Read settings from TOML.\n\n- say which line"
    ),
    spec("T-B07", "T-A01", title="Refuse unknown keys", type_="core", body="With the nearest known one."),
    spec("T-B08", "T-B02", title="Validate", type_="core"),
    spec("T-B09", "T-B07", "T-B08", title="Errors that name the line and the nearest known key", type_="text"),
    spec("T-C03", title="An alias for the old flag", type_="text"),
    spec("T-C11", title="Help texts", type_="text"),
    spec("T-D01", title="Cache headers", priority=10, agents=("grok",)),
    spec("T-E01", title="A logo", type_="art"),
    spec("T-E02", title="日本語のヘルプ", type_="text"),
)

_TRANSCRIPT = """\
Read src/config.py (212 lines)
Edited src/config.py  +34 -6
$ pytest -q tests/test_config.py
\x1b[32m....................\x1b[0m                                          [100%]
"""
_BEFORE = "import json\n\n\ndef load(path):\n    with open(path) as file:\n        return json.load(file)\n"
_AFTER = "import tomllib\n\n\ndef load(path):\n    with path.open('rb') as file:\n        return tomllib.load(file)\n"

_HUNK = Hunk(
    b"def load(path):\n    data = tomllib.load(path)\n",
    b"def load(path):\n    data = json.load(path)\n",
    b"def load(path, strict=True):\n    data = json.load(path)\n",
    41,
    38,
)
_FILES = (
    ConflictedFile("src/config.py", ConflictKind.CONTENT, parts=(b"import sys\n", _HUNK, b"    return data\n")),
    ConflictedFile("logo.png", ConflictKind.BINARY),
)
_MET = Conflict(("src/config.py", "logo.png"), "1" * 40, "2" * 40, "3" * 40, "4" * 40)


class Evening:
    """A shop in which things happen; each takes its time."""

    def __init__(self, shop: Shop, clock: FakeClock) -> None:
        self.shop = shop
        self.clock = clock
        self._slots = 0

    def starts(self, id_: str, agent: str, *, why: str = "the only free agent for it") -> Claim:
        self.clock.advance(40)
        self._slots += 1
        claim = self.shop.store.claim(ref(id_), agent, f"{agent}-{id_}", 1e6, why=why)
        assert isinstance(claim, Claim), claim
        base, branch = self.shop.repo.tip(), f"recall/main/{id_}/{claim.number}"
        refused = self.shop.store.start_run(
            claim.run_id, claim.owner, claim.version, branch=branch, base=base, slot=f"s{self._slots}"
        )
        assert refused is None, refused
        folder = self.shop.session.run_folder(claim.run_id)
        folder.mkdir(parents=True)
        (folder / "transcript").write_text(_TRANSCRIPT)
        return claim

    def commits(self, claim: Claim, content: str) -> None:
        repo = self.shop.repo
        repo.switch(f"recall/main/{claim.ref.id}/{claim.number}", create=True)
        repo.commit(f"{claim.ref.id}: settings in TOML", {"src/config.py": content, "src/__init__.py": ""})
        repo.switch("main")

    def ends(self, claim: Claim, after: float = 300) -> None:
        self.clock.advance(after)
        assert self.shop.store.end_run(claim.run_id, claim.owner, claim.version) is None

    def settles(self, claim: Claim, result: RunResult, reason: str) -> None:
        done = settlement(result, reason, now=self.clock.wall)
        refused = self.shop.store.settle_run(claim.run_id, claim.owner, claim.version, done, actor="dispatcher")
        assert refused is None, refused

    def queues(self, claim: Claim) -> int:
        self.ends(claim)
        merge = self.shop.store.enqueue(
            claim.run_id,
            claim.owner,
            claim.version,
            tip="c" * 40,
            base="b" * 40,
            actor="dispatcher",
            reason="reported success; 2 commits",
        )
        assert isinstance(merge, int), merge
        return merge

    def lands(self, claim: Claim, commit: str) -> None:
        merge = self.queues(claim)
        store = self.shop.store
        store.merge_verifying(merge, candidate=commit, onto="b" * 40)
        self.clock.advance(90)
        store.merge_intend(merge, old="b" * 40, new=commit)
        store.merge_landed(merge, commit, settlement=settlement(RunResult.LANDED, now=self.clock.wall))

    def meets(self, claim: Claim, other: Claim) -> ConflictView:
        """The run's commits do not apply to what the other one landed."""
        store, merge = self.shop.store, self.queues(claim)
        recorded = tuple(RecordedFile(one.path, one.kind, len(one.hunks)) for one in _FILES)
        change = LandedChange("d" * 40, "T-A01: a place for settings", other.ref)
        store.merge_conflict(merge, _MET, settlement=None, files=recorded, changes=(change,))
        record = store.conflict_record(merge)
        run, others = store.run(claim.run_id), store.run(other.run_id)
        assert isinstance(record, ConflictRecord)
        assert run is not None
        return ConflictView(
            record,
            self.shop.task(claim.ref.id),
            run,
            ((self.shop.task(other.ref.id), others),),
            _FILES,
            agents=("claude", "codex", "gemini"),
        )


@contextmanager
def evening(folder: Path) -> Generator[tuple[Shop, ConflictView]]:
    """Give the shop and the conflict that waits in it, as if another process dispatched."""
    clock = FakeClock()
    with shop_in(folder, settings=_SETTINGS) as made:
        database = made.session.state / "recall.db"
        with closing(open_store(database, clock, SeededRng())) as store:
            shop = Shop(made.repo, replace(made.session, store=store, clock=clock))
            store.sync_agents(
                [AgentSpec("claude"), AgentSpec("codex", parallel=2), AgentSpec("gemini"), AgentSpec("grok")]
            )
            view = _fill(Evening(shop, clock))
            lock = take_dispatcher_lock(shop.session.location, shop.session.settings)
            with closing(lock):
                yield shop, view


def _fill(day: Evening) -> ConflictView:
    shop, store = day.shop, day.shop.store
    shop.has(*_TASKS)
    shop.repo.commit("a place for settings", {"src/config.py": _BEFORE})
    first = day.starts("T-A01", "claude")
    day.lands(first, "d" * 40)
    failed = day.starts("T-C11", "gemini")
    day.ends(failed)
    day.settles(failed, RunResult.VERIFY_FAILED, "2 tests failed: test_help, test_usage")
    conflict = day.starts("T-B07", "gemini")
    asks = day.starts("T-C03", "codex")
    view = day.meets(conflict, first)
    day.ends(asks)
    day.settles(asks, RunResult.QUESTION, "Keep the old flag as an alias?")
    day.clock.advance(600)
    day.commits(day.starts("T-B02", "claude", why="best weight for core (0.85)"), _AFTER)
    day.starts("T-C11", "codex")
    verifying = day.queues(day.starts("T-A04", "codex"))
    store.merge_verifying(verifying, candidate="e" * 40, onto="d" * 40)
    store.set_cooldown("gemini", day.clock.wall + 2935, actor="dispatcher", reason="limit resets at 11:30pm")
    store.pause_agent("grok", actor="you")
    store.hold(ref("T-E01"), actor="you", reason="until the name is settled")
    day.clock.advance(72)
    return view
