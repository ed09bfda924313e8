"""Whatever the bytes and however they arrive, a line's place is where a reader of the whole text would find it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from recall_widgets.line_index import LineIndex, Place
from tests.widgets.texts import Text


def lines_of(text: Text, index: LineIndex) -> list[bytes]:
    places = [index.place(number) for number in range(index.count)]
    return [(text.data[place.start : place.end]).removesuffix(b"\n") for place in places]


def whole(data: bytes) -> list[bytes]:
    return data.split(b"\n")[:-1]


CHUNKS = st.lists(
    st.one_of(
        st.binary(max_size=20),
        st.just(b"\n"),
        st.just(b"ab\n" * 6000),
        st.just(b"x" * 40_000),
        st.just(b"y" * 16_383),
        st.just(b"\n" * 17_000),
    ),
    max_size=6,
)


@settings(deadline=None, max_examples=40)
@given(CHUNKS)
def test_lines_are_where_a_split_of_the_whole_finds_them(chunks: list[bytes]) -> None:
    text = Text()
    index = LineIndex(text.read)
    for chunk in chunks:
        text.data += chunk
        assert index.extend(len(text.data))
    assert lines_of(text, index) == whole(text.data)
    rest = text.data.rpartition(b"\n")[2]
    unfinished = index.unfinished
    assert (text.data[unfinished.start : unfinished.end] if unfinished else b"") == rest


@settings(deadline=None, max_examples=40)
@given(CHUNKS, st.data())
def test_a_byte_is_in_the_line_that_holds_it(chunks: list[bytes], data: st.DataObject) -> None:
    text = Text(b"".join(chunks) + b"end\n")
    index = LineIndex(text.read)
    index.extend(len(text.data))
    offset = data.draw(st.integers(0, len(text.data) - 1))
    assert index.number_at(offset) == text.data[:offset].count(b"\n")


@settings(deadline=None, max_examples=15)
@given(CHUNKS)
def test_lines_that_are_taken_apart_or_hidden_count_as_what_is_shown(chunks: list[bytes]) -> None:
    text = Text(b"".join(chunks))
    index = LineIndex(text.read, lambda raw: len(raw) % 3)
    while not index.extend(len(text.data), budget=5000):
        pass
    expected = [(line, part) for line in whole(text.data) for part in range(len(line) % 3)]
    places = [index.place(number) for number in range(index.count)]
    assert [(text.data[place.start : place.end], place.part) for place in places] == expected


def test_a_million_lines_need_little_memory() -> None:
    text = Text(b"a line of an agent's output, of some length\n" * 1_000_000)
    index = LineIndex(text.read)
    while not index.extend(len(text.data)):
        pass
    assert index.count == 1_000_000
    assert index.place(777_777).start == 777_777 * 44
    blocks = sum(1 for _ in index.blocks_from(0))
    assert blocks < 3000, "one mark for about 16 KiB"


def test_one_step_looks_at_no_more_than_its_budget() -> None:
    text = Text(b"x\n" * 2_000_000)
    index = LineIndex(text.read)
    assert not index.extend(len(text.data), budget=1 << 20)
    assert index.scanned <= (1 << 20) + (256 << 10)


def test_dropped_bytes_are_one_line_that_says_so() -> None:
    text = Text(b"a\nb\nhalf", dropped=(7, 1000))
    text.data = b"a\nb\nhalf".ljust(1000, b".") + b"rest\nc\n"
    index = LineIndex(text.read)
    index.extend(len(text.data))
    assert [index.place(number) for number in range(index.count)] == [
        Place(0, 1),
        Place(2, 3),
        Place(4, 7),
        Place(7, 1000, lost=True),
        Place(1000, 1004),
        Place(1005, 1006),
    ]


def test_lines_dropped_after_they_were_counted_stay_lines() -> None:
    text = Text(b"0123456789\n" * 10_000)
    index = LineIndex(text.read)
    index.extend(len(text.data))
    before = index.count
    text.dropped = (20_000, 90_000)
    places = [index.place(number) for number in range(before)]
    assert places[0] == Place(0, 10)
    assert places[4000].lost
    assert places[-1] == Place(len(text.data) - 11, len(text.data) - 1)


def test_a_gigantic_line_is_not_read_to_find_it() -> None:
    size = 30_000_000
    text = Text(b"a\n" + b"z" * size + b"\nb\n")
    index = LineIndex(text.read)
    while not index.extend(len(text.data)):
        pass
    text.given = 0
    assert index.place(1) == Place(2, 2 + size + 1)
    assert index.place(2) == Place(size + 3, size + 4)
    assert text.given < 100_000
