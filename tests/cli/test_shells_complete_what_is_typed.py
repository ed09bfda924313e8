"""Real shells complete commands, options and names, with nothing but what `recall completion` prints."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from recall.cli.report import run
from recall.cli.root import recall
from tests.support.hermetic_git import Repo
from tests.support.tools import need

_TASKS = "# Tasks\n\n- [ ] T-1: First\n- [x] T-2: Second\n- [ ] T-3: Third [$(touch gone)]\n"
_OTHER = "# Tasks\n\n- [ ] U-1: Elsewhere\n"
_CONFIG = """\
main = "main"
verify = "none"
[tasks]
main = "TASKS.md"
api = "API.md"
[agents.ant]
command = ["sh"]
[agents.bee]
command = ["sh"]
"""


@pytest.fixture
def project(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    repo.write("TASKS.md", _TASKS)
    repo.write("API.md", _OTHER)
    repo.write("recall.toml", _CONFIG)
    monkeypatch.chdir(repo.path)
    assert run(recall, "recall", ["import"]) == 0
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return repo


def in_bash(*words: str) -> list[str]:
    """What bash would offer for the last word."""
    listed = " ".join(f"'{word}'" for word in words)
    script = (
        f'eval "$(recall completion bash)"; COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; COMPREPLY=(); '
        'compopt() { :; }; _recall_completion recall; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        [need("bash"), "--norc", "-c", script], capture_output=True, text=True, check=True, timeout=50
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_commands_are_offered_from_the_table(project: Repo) -> None:
    assert in_bash("recall", "req") == ["requeue"]
    assert {"next", "outcome", "completion"} <= set(in_bash("recall", ""))


def test_tasks_are_offered_with_those_that_are_over_last(project: Repo) -> None:
    assert in_bash("recall", "requeue", "t-") == ["T-1", "T-3", "T-2"]


def test_a_region_stands_before_its_colon(project: Repo) -> None:
    assert in_bash("recall", "show", "api", ":", "U") == ["U-1"]
    assert in_bash("recall", "show", "api", ":") == ["U-1"]
    assert in_bash("recall", "show", "api") == ["api:U-1"]


def test_agents_regions_and_settings_are_offered(project: Repo) -> None:
    assert in_bash("recall", "pause", "") == ["ant", "bee"]
    assert in_bash("recall", "next", "--agent", "b") == ["bee"]
    assert in_bash("recall", "export", "--region", "a") == ["api"]
    assert "run.timeout" in in_bash("recall", "config", "show", "run.")


@pytest.mark.parametrize("broken", ["no repository", "no settings", "bad settings"])
def test_where_nothing_can_be_read_there_is_nothing_to_offer(project: Repo, tmp_path: Path, broken: str) -> None:
    if broken == "no repository":
        shutil.rmtree(project.path / ".git")
    elif broken == "no settings":
        (project.path / "recall.toml").unlink()
    else:
        project.write("recall.toml", "main = [")
    assert in_bash("recall", "requeue", "") == []


def test_zsh_and_fish_offer_tasks_with_their_titles(project: Repo) -> None:
    load = 'autoload -U compinit; compinit -u -D; eval "$(recall completion zsh)"; which _recall_completion'
    zsh = subprocess.run([need("zsh"), "-f", "-c", load], capture_output=True, text=True, check=True, timeout=50)
    assert "zsh_complete recall" in zsh.stdout
    ask = 'recall completion fish | source; complete -C "recall requeue T-"'
    fish = subprocess.run(
        [need("fish"), "--no-config", "-c", ask], capture_output=True, text=True, check=True, timeout=50
    )
    assert fish.stdout.splitlines()[0].split("\t") == ["T-1", "First"]
    assert not (project.path / "gone").exists()
