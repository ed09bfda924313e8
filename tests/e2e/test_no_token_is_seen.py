"""The token of a run, and what the caller's environment holds in secrets, appear in no process list, prompt, log,
event or commit while a real run works, is verified and lands."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from recall.domain.task import TaskState
from tests.support.hermetic_git import Repo
from tests.support.tools import need
from tests.support.workshop import Workshop, eventually, processes_in

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

SECRETS = {
    "GITHUB_TOKEN": "ghp-not-for-agents",
    "AWS_SECRET_ACCESS_KEY": "aws-not-for-agents",
    "GIT_ASKPASS": "/askpass-not-for-agents",
    "SSH_AUTH_SOCK": "/ssh-not-for-agents",
    "GIT_CONFIG_PARAMETERS": "'core.fsmonitor'='config-not-for-agents'",
}
#: An agent that gives away whatever it finds in its environment and its prompt, in every way that there is.
_TALK = """\
env; cat /proc/self/environ /proc/$PPID/cmdline | tr '\\0' '\\n'; printf '%s' "$PROMPT"
env > environment.txt; printf '%s' "$PROMPT" > prompt.txt
touch "{home}/at-work"; while [ ! -e "{home}/go-on" ]; do sleep 0.05; done
commit "$(env)"; $REPORT --result success --summary "$(env | head -c 2000)"
"""
_VERIFY = "env; env > told.tmp; touch {home}/verifying; while [ ! -e {home}/land ]; do sleep 0.05; done"


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    return Workshop.create(tmp_path)


def of_all_processes(shop: Workshop, what: str) -> bytes:
    """Give the command lines, or the environments, of every process of this project."""
    return b"\n".join(read(Path("/proc", str(pid), what)) for pid in processes_in(shop.home))


def read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def every_object(git_dir: Path) -> bytes:
    batch = ["git", "cat-file", "--batch-all-objects", "--batch"]
    return subprocess.run(batch, cwd=git_dir, capture_output=True, check=True).stdout


def logs(shop: Workshop) -> dict[str, bytes]:
    """Everything that Recall or git writes for people, and everything that lands anywhere."""
    with closing(sqlite3.connect(shop.state / "recall.db")) as store:
        found = {"store": "\n".join(store.iterdump()).encode()}
    kept = [file for file in (shop.state / "runs").rglob("*") if file.is_file() and file.name != "spec.json"]
    kept += (shop.repo.path / ".recall/ws").glob("*/prompt.md")
    kept += (shop.repo.git_dir / "logs").rglob("*")
    found |= {str(file): read(file) for file in kept}
    return found | {str(place): every_object(place) for place in (shop.repo.git_dir, shop.state / "integration.git")}


@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_from_claim_to_landing(shop: Workshop, kind: str) -> None:
    shop.extra = f'[workspaces]\nkind = "{kind}"\n[sandbox]\nlevel = "none"\n'
    shop.verify = _VERIFY.format(home=shop.home)
    shop.agent("ant", _TALK.format(home=shop.home))
    shop.tasks("## T-1 Talk")
    shop.settle()
    with shop.dispatching(env=SECRETS) as dispatcher:
        eventually((shop.home / "at-work").exists)
        (identity,) = (shop.repo.path / ".recall/ws").glob("*/run.json")
        token = json.loads(identity.read_text())["token"].encode()
        assert len(token) >= 32
        commands, environments = of_all_processes(shop, "cmdline"), of_all_processes(shop, "environ")
        (shop.home / "go-on").touch()
        eventually((shop.home / "verifying").exists)
        commands += of_all_processes(shop, "cmdline")
        (shop.home / "land").touch()
        said, _ = dispatcher.communicate(timeout=60)
    assert shop.look()["T-1"].state is TaskState.DONE
    assert b"ant.sh" in commands, "the agent was looked at"
    assert token not in commands + environments
    written = {**logs(shop), "what the dispatcher said": said.encode()}
    assert b"RECALL_RUN_ID" in written[str(shop.repo.git_dir)], "the agent did commit its environment"
    assert [place for place, text in written.items() if token in text] == []
    given_away = [
        (place, name)
        for place, text in {**written, "process list": commands}.items()
        for name, secret in SECRETS.items()
        if secret.rpartition("=")[2].strip("'").encode() in text
    ]
    assert given_away == []
    assert Repo(shop.repo.path).status() == []


def test_no_process_is_ever_started_with_one(shop: Workshop) -> None:
    """Every program that is started, however short it lives: its arguments, and its environment."""
    calls, traced = shop.home / "calls", shop.home / "traced"
    strace = f"{need('strace')} -f --seccomp-bpf -qq -v -s 1000000 -e trace=execve -o {calls}"
    traced.write_text(f'#!/bin/sh\nexec {strace} {shop.python} "$@"\n')
    traced.chmod(0o755)
    shop.python = str(traced)
    shop.extra = '[workspaces]\nkind = "clone"\n'
    shop.agent("ant", 'echo "$TASK" > "$TASK.txt"; commit one; success')
    shop.tasks("## T-1 Work")
    shop.settle()
    ended = shop.dispatch(env=SECRETS)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (identity,) = (shop.repo.path / ".recall/ws").glob("*/run.json")
    token = json.loads(identity.read_text())["token"]
    itself, *started = calls.read_text("utf-8", "replace").splitlines()
    assert len(started) > 20, "git, the shims, the fence, the agent, its commands, verification"
    secrets = {name: secret.rpartition("=")[2].strip("'") for name, secret in SECRETS.items()}
    assert all(secret in itself for secret in secrets.values()), "the dispatcher itself was given them"
    known = {**secrets, "the run's token": token}
    given_away = [(name, call[:300]) for call in started for name, secret in known.items() if secret in call]
    assert given_away == []
