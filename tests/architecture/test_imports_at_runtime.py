"""What agents call often must start fast, so it may not import what is heavy; what has layers must keep them.

import-linter sees the text of imports; these tests see what a real process has loaded.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from recall.cli.root import COMMANDS
from tests.support.hermetic_git import Repo

HEAVY = ("textual", "rich", "git", "recall.engine.dispatcher")

_RUN = """
import sys
from recall.cli.report import run
from recall.cli.root import recall
code = run(recall, "recall", sys.argv[2:])
loaded = [name for name in sys.argv[1].split(",") if name in sys.modules]
print("LOADED", ",".join(loaded))
sys.exit(code)
"""


def _loaded(folder: Path, *args: str, watched: tuple[str, ...] = HEAVY) -> tuple[int, str]:
    ended = subprocess.run(
        [sys.executable, "-c", _RUN, ",".join(watched), *args],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in ended.stdout.splitlines() if line.startswith("LOADED ")]
    assert lines, ended.stderr
    return ended.returncode, lines[-1].removeprefix("LOADED ")


def test_help_imports_no_subcommand(tmp_path: Path) -> None:
    commands = tuple(f"recall.cli.{module}" for module, _, _ in COMMANDS.values())
    assert _loaded(tmp_path, "--help", watched=(*HEAVY, "sqlite3", *commands)) == (0, "")


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_no_subcommands_help_is_heavy(tmp_path: Path, command: str) -> None:
    assert _loaded(tmp_path, command, "--help", watched=(*HEAVY, "sqlite3")) == (0, "")


def test_an_agents_report_needs_no_store(tmp_path: Path) -> None:
    slot = tmp_path / "slot"
    (slot / "tree").mkdir(parents=True)
    (slot / "run.json").write_text('{"run_id": 1, "task": "T-1", "agent": "a", "token": "t"}')
    (slot / "closed.json").write_text('{"token": "t", "reason": "over"}')
    watched = (*HEAVY, "sqlite3", "recall.store", "recall.bootstrap", "recall.config.settings")
    assert _loaded(slot / "tree", "outcome", "--result", "success", watched=watched) == (11, "")


@pytest.mark.parametrize("command", ["next --agent a", "heartbeat --agent a", "status", "pause", "why T-1"])
def test_what_works_on_the_store_loads_no_git_and_no_screen(repo: Repo, command: str) -> None:
    repo.write("recall.toml", 'verify = "none"\n[agents.a]\ncommand = ["true"]\n')
    _, loaded = _loaded(repo.path, *command.split())
    assert loaded == ""


#: What only other commands, or messages, need. Each costs a claim about a hundredth of its time.
BESIDE_A_CLAIM = (
    "recall.domain.merge", "recall.domain.conflict", "recall.domain.outcome", "recall.domain.snapshot",
    "recall.domain.signals", "recall.domain.intervention", "recall.store.merges", "recall.store.importing",
    "recall.store.suspects", "recall.config.lines", "recall.config.keystrokes", "recall.config.detect",
    "recall.agents.presets", "shutil", "zoneinfo", "difflib",
)  # fmt: skip


def test_a_claim_loads_what_a_claim_needs(repo: Repo) -> None:
    repo.write("recall.toml", 'main = "main"\nverify = "none"\n[agents.a]\ncommand = ["true"]\n')
    repo.write("TASKS.md", "# Tasks\n\n## T-1 One\n\n## T-2 Two\n")
    _loaded(repo.path, "import")
    assert _loaded(repo.path, "next", "--agent", "a", watched=(*HEAVY, *BESIDE_A_CLAIM)) == (0, "")
