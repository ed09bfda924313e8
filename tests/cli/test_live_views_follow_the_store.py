"""`--follow` and `--watch` in a process of their own see what another process changes, and end on Ctrl-C."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from tests.cli.conftest import Recall
from tests.support.hermetic_git import Repo


@contextmanager
def _live(repo: Repo, *args: str) -> Generator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-m", "recall", *args], cwd=repo.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _read_until(process: subprocess.Popen[bytes], wanted: str, seconds: float = 20.0) -> str:
    assert process.stdout is not None
    seen, deadline = b"", time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while wanted.encode() not in seen and time.monotonic() < deadline:
            if selector.select(0.2):
                seen += os.read(process.stdout.fileno(), 65536)
    assert wanted.encode() in seen, seen
    return seen.decode()


@pytest.mark.parametrize(
    ("args", "first", "then"),
    [
        (("log", "--follow", "--json"), "list.imported", '"after": "on_hold"'),
        (("status", "--watch", "--json"), '"on hold": 0', '"on hold": 1'),
        (("status", "--watch"), "2 ready", "1 on hold"),
    ],
)
def test_a_change_is_seen(imported: Repo, cli: Recall, args: tuple[str, ...], first: str, then: str) -> None:
    with _live(imported, *args) as process:
        _read_until(process, first)
        cli("hold", "T-1")
        _read_until(process, then)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130


def test_a_reader_that_goes_away_is_no_error(imported: Repo) -> None:
    with _live(imported, "log", "--follow") as process:
        _read_until(process, "list.imported")
        assert process.stdout is not None
        process.stdout.close()
        subprocess.run(
            [sys.executable, "-m", "recall", "hold", "T-1"], cwd=imported.path, check=True, capture_output=True
        )
        assert process.wait(20) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""
