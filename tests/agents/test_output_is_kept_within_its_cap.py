"""The transcript keeps every byte, or head and tail of too many, and readers can tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.agents.shim import Transcript as Writer
from recall.agents.transcript import Transcript
from tests.agents.bench import Bench, wait_until


def kept(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("transcript*"))


def test_bytes_that_are_no_text_are_kept_as_they_are(bench: Bench) -> None:
    record = bench.run("printf '\\377\\376\\200 caf\\351\\n'; head -c 4096 /dev/urandom | tee random; echo; exit 0")
    assert record.status == 0
    assert bench.output() == b"\xff\xfe\x80 caf\xe9\n" + (bench.tree / "random").read_bytes() + b"\n"
    assert "�" in bench.runner.tail(bench.folder, 50)


def test_endless_output_is_capped_and_ends_with_the_time_limit(bench: Bench) -> None:
    cap = 1 << 20
    record = bench.run("yes 'all work and no play'", timeout=0.8, transcript_cap=cap)
    assert record.stopped == "timeout"
    assert kept(bench.folder) <= cap
    reader = Transcript(bench.folder)
    assert reader.size() > cap
    assert reader.dropped() == reader.size() - kept(bench.folder)
    assert "all work and no play" in bench.runner.tail(bench.folder, 3)


def test_ten_megabytes_without_a_line_end_are_read_whole(bench: Bench) -> None:
    bench.run("head -c 10000000 /dev/zero | tr '\\0' x; echo; echo end")
    assert len(bench.output()) == 10_000_005
    assert bench.runner.tail(bench.folder, 1) == "end\n"


def test_both_streams_come_in_order(bench: Bench) -> None:
    bench.run("echo one; echo two >&2; echo three")
    assert bench.output() == b"one\ntwo\nthree\n"


def test_output_can_be_followed_while_the_agent_runs(bench: Bench) -> None:
    bench.start("echo first; while [ ! -e go ]; do sleep 0.02; done; echo second")
    reader = Transcript(bench.folder)
    wait_until(lambda: reader.size() == 6, "the first line")
    first = reader.read(0)
    assert (first.start, first.data, first.end) == (0, b"first\n", 6)
    assert reader.read(first.end).data == b""
    (bench.tree / "go").touch()
    bench.finish()
    assert reader.read(first.end).data == b"second\n"


@pytest.mark.parametrize("cap", [16, 100, 1000])
@pytest.mark.parametrize("step", [1, 7, 5000])
def test_head_and_tail_survive_and_offsets_stay_true(tmp_path: Path, cap: int, step: int) -> None:
    whole = b"".join(b"%06d\n" % number for number in range(1000))
    writer = Writer(tmp_path, cap)
    for at in range(0, len(whole), step):
        writer.write(whole[at : at + step])
    writer.close()
    reader = Transcript(tmp_path)
    assert kept(tmp_path) <= cap
    assert reader.size() == len(whole)
    offset, seen = 0, 0
    while (chunk := reader.read(offset, 11)).data:
        assert whole[chunk.start : chunk.end] == chunk.data
        offset, seen = chunk.end, seen + len(chunk.data)
    assert offset == len(whole)
    assert seen == kept(tmp_path) == len(whole) - reader.dropped()
    assert reader.read(0, cap // 2).data == whole[: cap // 2]
    assert whole.endswith(reader.tail(3))


def test_a_reader_that_has_read_sees_what_grows_and_what_is_rotated_away(tmp_path: Path) -> None:
    whole = b"".join(b"%06d\n" % number for number in range(200))
    writer, reader, offset = Writer(tmp_path, 100), Transcript(tmp_path), 0
    for at in range(0, len(whole), 7):
        writer.write(whole[at : at + 7])
        assert at <= reader.size() <= at + 7
        while (chunk := reader.read(offset, 11)).data:
            assert whole[chunk.start : chunk.end] == chunk.data
            offset = chunk.end
        assert offset == at + 7
    writer.close()
    early = reader.read(60, 11)
    assert early.start > 60
    assert whole[early.start : early.end] == early.data
    assert reader.size() == len(whole)


def test_the_tail_never_joins_lines_over_a_gap(tmp_path: Path) -> None:
    writer = Writer(tmp_path, 40)
    writer.write(b"".join(b"line %02d\n" % number for number in range(20)))
    writer.close()
    tail = Transcript(tmp_path).tail(10)
    assert b"line 00" not in tail
    assert tail.endswith(b"line 19\n")


def test_the_tail_of_short_and_missing_transcripts(tmp_path: Path) -> None:
    assert Transcript(tmp_path).tail(5) == b""
    assert Transcript(tmp_path / "nowhere").size() == 0
    writer = Writer(tmp_path, 1000)
    writer.write(b"one\ntwo\nthree")
    writer.close()
    reader = Transcript(tmp_path)
    assert reader.tail(2) == b"two\nthree"
    assert reader.tail(9) == b"one\ntwo\nthree"
    assert reader.tail(0) == b""


def test_a_full_disk_loses_output_not_the_run(tmp_path: Path) -> None:
    writer = Writer(tmp_path, 1000)
    writer.write(b"kept")
    writer.close()
    writer.write(b"cannot be written")
    assert (writer.size, writer.lost) == (4, 17)
    assert writer.error
