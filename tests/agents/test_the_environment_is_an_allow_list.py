"""Agents see what is listed, and nothing that would send them elsewhere."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from recall.agents.environment import GIT_LOCAL, agent_environment

CWD = Path("/somewhere/tree")


def names(*given: str, passed: tuple[str, ...] = (), unset: tuple[str, ...] = ()) -> set[str]:
    parent = dict.fromkeys(given, "x")
    return set(agent_environment(parent, cwd=CWD, passed=passed, unset=unset)) - {"PWD"}


@pytest.mark.parametrize(
    "name",
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TERM",
     "XDG_CACHE_HOME", "HTTPS_PROXY", "http_proxy", "NO_PROXY", "no_proxy",
     "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"],
)  # fmt: skip
def test_what_programs_need_passes(name: str) -> None:
    assert names(name) == {name}


@pytest.mark.parametrize(
    "name", ["AWS_SECRET_ACCESS_KEY", "OLDPWD", "PYTHONPATH", "VIRTUAL_ENV", "path", "LC", "TERMX"]
)
def test_the_rest_does_not(name: str) -> None:
    assert names(name) == set()


def test_what_is_asked_for_passes_by_glob() -> None:
    assert names("OPENAI_API_KEY", "OPENAI_BASE", "OTHER", passed=("OPENAI_*",)) == {"OPENAI_API_KEY", "OPENAI_BASE"}


def test_the_working_directory_is_the_agents() -> None:
    env = agent_environment({"PWD": "/elsewhere"}, cwd=CWD, extra={"PWD": "/wrong"})
    assert env["PWD"] == "/somewhere/tree"


@pytest.mark.parametrize("name", sorted(GIT_LOCAL))
def test_gits_local_variables_never_pass(name: str) -> None:
    assert names(name, passed=("*", name)) == set()


def test_gits_own_list_is_covered() -> None:
    said = subprocess.run(["git", "rev-parse", "--local-env-vars"], capture_output=True, check=True, text=True)
    assert set(said.stdout.split()) <= GIT_LOCAL


@pytest.mark.parametrize(
    "name", ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_SANDBOX", "GEMINI_CLI", "QWEN_CODE_SESSION"]
)
def test_the_marks_of_an_outer_agent_pass_only_when_spelled_out(name: str) -> None:
    assert names(name, passed=("*",)) == set()
    assert names(name, passed=(name,)) == {name}


def test_unset_wins_over_passed_and_extra_over_both() -> None:
    env = agent_environment(
        {"KEY": "parent", "LANG": "de"}, cwd=CWD, passed=("KEY",), extra={"KEY": "own"}, unset=("KEY", "LANG")
    )
    assert env == {"KEY": "own", "PWD": "/somewhere/tree"}
