"""A rendered transcript is served by offset like the raw one, in small steps and little memory."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from recall.agents.presets import load_preset
from recall.agents.rendered import RenderedTranscript, read_spending
from recall.agents.shim import Transcript as Keeper
from recall.agents.transcript import Transcript
from recall.domain.stream.dialect import Dialect
from recall.domain.stream.press import Press
from recall.domain.stream.rendering import Page


@pytest.fixture(name="claude", scope="session")
def _claude() -> Dialect:
    dialect = load_preset("claude").stream
    assert dialect is not None
    return dialect


def turn(number: int, lines: int = 30) -> bytes:
    """A command and what it printed, as Claude Code tells it."""
    call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": f"make part-{number}"}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"built {number}\n" * lines}
    usage = {"input_tokens": 10, "output_tokens": 1}
    events = (
        {"type": "assistant", "message": {"id": f"m{number}", "content": [call], "usage": usage}},
        {"type": "user", "message": {"content": [result]}},
    )
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def whole(raw: bytes, dialect: Dialect) -> bytes:
    return Press(dialect, Page()).take(raw)[0]


def read_all(text: RenderedTranscript, limit: int = 1 << 16) -> bytes:
    while True:
        text.size()
        if text.is_complete:
            break
    parts = list[bytes]()
    offset = 0
    while data := text.read(offset, limit).data:
        parts.append(data)
        offset += len(data)
    return b"".join(parts)


def test_what_is_served_is_the_whole_text(tmp_path: Path, claude: Dialect) -> None:
    raw = b"a warning first\n" + b"".join(turn(number) for number in range(2000))
    (tmp_path / "transcript").write_bytes(raw)
    text = RenderedTranscript(Transcript(tmp_path), claude)
    expected = whole(raw, claude)
    assert read_all(text) == expected
    assert text.size() == len(expected)
    for offset in (0, 1, 70_001, len(expected) // 2, len(expected) - 3, len(expected), len(expected) + 9):
        assert text.read(offset, 1000).data == (expected[offset:][:1000] or b"")[: len(text.read(offset, 1000).data)]
        assert text.read(offset, 1000).data or offset >= len(expected)
    assert read_spending(tmp_path, claude).input_tokens == 20_000


@pytest.mark.parametrize("piece", [100, 5_000, 300_000])
def test_it_follows_what_is_being_written(tmp_path: Path, claude: Dialect, piece: int) -> None:
    raw = b"".join(turn(number) for number in range(200 if piece < 300_000 else 3000))
    text = RenderedTranscript(Transcript(tmp_path), claude)
    assert text.size() == 0
    sizes = [0]
    for end in range(piece, len(raw) + piece, piece):
        (tmp_path / "transcript").write_bytes(raw[:end])
        sizes.append(text.size())
    assert sizes == sorted(sizes)
    assert read_all(text) == whole(raw, claude)


def test_output_that_was_dropped_is_a_line_that_says_so(tmp_path: Path, claude: Dialect) -> None:
    keeper = Keeper(str(tmp_path), 400_000)
    text = RenderedTranscript(Transcript(tmp_path), claude)
    for number in range(600):
        keeper.write(turn(number, 200))
        if number % 100 == 0:
            text.size()
    keeper.close()
    made = read_all(text)
    assert b"make part-0\n" in made
    assert b"make part-599\n" in made
    assert b" KiB not kept" in made
    fresh = read_all(RenderedTranscript(Transcript(tmp_path), claude))
    assert fresh.count(b" KiB not kept") == 1
    assert b'"type"' not in fresh


def test_a_block_that_is_gone_is_passed_over(tmp_path: Path, claude: Dialect) -> None:
    first, second = (b"".join(turn(number) for number in range(start, start + 400)) for start in (0, 400))
    (tmp_path / "transcript").write_bytes(first)
    (tmp_path / f"transcript.{len(first)}").write_bytes(second)
    text = RenderedTranscript(Transcript(tmp_path), claude)
    size = len(read_all(text))
    (tmp_path / "transcript").unlink()
    (tmp_path / f"transcript.{len(first)}").rename(tmp_path / f"transcript.{len(first) + 50_000}")
    chunk = text.read(0)
    while chunk.data:
        assert chunk.end <= size
        chunk = text.read(chunk.end)


def test_a_line_that_goes_over_from_one_file_to_the_next_is_one_event(tmp_path: Path, claude: Dialect) -> None:
    raw = b"".join(turn(number) for number in range(4))
    at = len(raw) // 2 + 10
    (tmp_path / "transcript").write_bytes(raw[:at])
    (tmp_path / f"transcript.{at}").write_bytes(raw[at:])
    assert read_all(RenderedTranscript(Transcript(tmp_path), claude)) == whole(raw, claude)


def test_half_an_event_at_a_gap_is_let_go(tmp_path: Path, claude: Dialect) -> None:
    raw = turn(1)
    (tmp_path / "transcript").write_bytes(raw + raw[:50])
    (tmp_path / "transcript.900000").write_bytes(raw[80:] + turn(2))
    made = read_all(RenderedTranscript(Transcript(tmp_path), claude))
    assert b"make part-2" in made
    assert b'"type"' not in made


def test_memory_stays_small_whatever_is_read(tmp_path: Path, claude: Dialect) -> None:
    (tmp_path / "transcript").write_bytes(turn(1, 150) * 4000)
    tracemalloc.start()
    try:
        text = RenderedTranscript(Transcript(tmp_path), claude)
        while not text.is_complete:
            text.size()
        offset = 0
        while data := text.read(offset, 1 << 18).data:
            offset += len(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (tmp_path / "transcript").stat().st_size > 5_000_000
    assert peak < 2_500_000


def test_a_folder_without_output_reads_as_empty(tmp_path: Path, claude: Dialect) -> None:
    text = RenderedTranscript(Transcript(tmp_path / "nowhere"), claude)
    assert (text.size(), text.read(0).data, text.is_complete) == (0, b"", True)
