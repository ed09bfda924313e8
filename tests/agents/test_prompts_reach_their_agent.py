"""The prompt goes in by standard input, as an argument or as a file, and nothing waits for a reader."""

from __future__ import annotations

import sys

import pytest

from tests.agents.bench import Bench

TEXT = "Do it.\n$HOME `id` \"quoted\" 'single' \\ é\n"


def test_by_standard_input_which_is_then_closed(bench: Bench) -> None:
    bench.run("cat; echo closed", prompt=TEXT, prompt_mode="stdin")
    assert bench.output().decode() == TEXT + "closed\n"


def test_as_the_last_argument_of_a_shell_command(bench: Bench) -> None:
    bench.run("printf '%s|' a", prompt=TEXT, prompt_mode="arg")
    assert bench.output().decode() == f"a|{TEXT}|"


def test_as_the_last_argument_of_a_program(bench: Bench) -> None:
    code = "import sys; print(sys.argv[1:])"
    bench.run("", argv=(sys.executable, "-c", code, "--prompt"), shell=False, prompt=TEXT, prompt_mode="arg")
    assert bench.output().decode() == f"{['--prompt', TEXT]}\n"


def test_as_a_file_beside_the_workspace(bench: Bench) -> None:
    bench.run("echo", prompt=TEXT, prompt_mode="file")
    assert bench.output().decode() == f"{bench.slot}/prompt.md\n"
    assert (bench.slot / "prompt.md").read_text() == TEXT


def test_as_a_file_of_the_run_where_there_is_no_slot(bench: Bench) -> None:
    bench.run("cat", prompt=TEXT, prompt_mode="file", slot=None)
    assert bench.output().decode() == TEXT


def test_without_a_prompt_standard_input_is_empty(bench: Bench) -> None:
    bench.run("cat; echo end", prompt=TEXT)
    assert bench.output() == b"end\n"


def test_a_prompt_that_nobody_reads_blocks_nothing(bench: Bench) -> None:
    record = bench.run("exec <&-; echo not read", prompt="x" * 1_000_000, prompt_mode="stdin")
    assert record.status == 0
    assert bench.output() == b"not read\n"


def test_a_long_prompt_arrives_whole_at_a_slow_reader(bench: Bench) -> None:
    bench.run("sleep 0.3; wc -c", prompt="x" * 1_000_000, prompt_mode="stdin")
    assert bench.output().split() == [b"1000000"]


def test_a_prompt_too_long_for_a_command_line_is_named_as_a_file(bench: Bench) -> None:
    named = "re.search(r'file (\\S+) first', sys.argv[1])[1]"
    code = f"import pathlib, re, sys; print(len(pathlib.Path({named}).read_text()))"
    bench.run("", argv=(sys.executable, "-c", code), shell=False, prompt="x" * 200_000, prompt_mode="arg")
    assert bench.output() == b"200000\n"
    longest = "x" * (128 * 1024 - 1)
    bench.run("", argv=(sys.executable, "-c", "import sys; print(len(sys.argv[1]))"), shell=False, prompt=longest,
              prompt_mode="arg")  # fmt: skip
    assert bench.output() == b"131071\n"


@pytest.mark.parametrize("mode", ["stdin", "file", "arg", "none"])
def test_text_that_is_no_unicode_does_not_stop_a_run(bench: Bench, mode: str) -> None:
    assert bench.run("true", prompt="lone \ud800 surrogate", prompt_mode=mode).status == 0
