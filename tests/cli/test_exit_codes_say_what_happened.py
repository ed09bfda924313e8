"""Every known ending of a command is one message on standard error and one documented exit code."""

from __future__ import annotations

import click
import pytest

from recall.cli.report import ExitCode, Refusal, Stop, accept, run
from recall.domain.errors import (
    ConfigError,
    DispatcherRunning,
    EnvironmentFailure,
    RecallError,
    StoreBusy,
)
from recall.domain.run import Refused


def _run(error: BaseException | None, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    @click.command()
    def command() -> None:
        if error is not None:
            raise error

    code = run(command, "recall", [])
    captured = capsys.readouterr()
    assert captured.out == ""
    return code, captured.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Refusal("x"), 1),
        (RecallError("x"), 1),
        (ConfigError("x"), 2),
        (DispatcherRunning("x"), 3),
        (EnvironmentFailure("x"), 4),
        (Stop(ExitCode.NOTHING_TO_CLAIM, "x"), 10),
        (Stop(ExitCode.LEASE_LOST, "x"), 11),
        (StoreBusy("x"), 12),
    ],
)
def test_errors_have_their_codes(error: RecallError, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(error, capsys) == (code, "x\n")


def test_a_stop_that_said_everything_adds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(Stop(ExitCode.BAD_CONFIG), capsys) == (2, "")


def test_success_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(None, capsys) == (0, "")


def test_ctrl_c_ends_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(KeyboardInterrupt(), capsys) == (130, "\n")


def test_messages_are_cleaned(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(Refusal("T-1 \x1b]52;c;eA==\x07is gone"), capsys) == (1, "T-1 is gone\n")


def test_an_unknown_fault_keeps_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError):
        _run(ZeroDivisionError(), capsys)


def test_what_the_store_refuses_ends_the_command() -> None:
    accept(None)
    with pytest.raises(Stop) as late:
        accept(Refused("too late", lease_lost=True))
    assert late.value.code is ExitCode.LEASE_LOST
    with pytest.raises(Stop) as refused:
        accept(Refused("it runs"))
    assert refused.value.code is ExitCode.REFUSED
