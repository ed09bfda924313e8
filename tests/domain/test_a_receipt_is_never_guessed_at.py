"""What may be done about an outside action: a table over everything that can be known of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.domain.clock import Deadline, Instant
from recall.domain.receipts import (
    ANSWER_LIMIT,
    RECEIPT_MOVES,
    Receipt,
    ReceiptState,
    Step,
    Terms,
    decide,
    intent_of,
    is_key,
    kept_answer,
    may_repeat,
    needs_person,
    waiting_words,
)

NOW = Instant("boot", 1000.0, 1_700_000_000.0)
DAY = 86400.0

terms = st.builds(Terms, st.booleans(), st.floats(1.0, 10 * DAY))
deadlines = st.one_of(
    st.none(), st.builds(Deadline, st.sampled_from(["boot", "earlier boot"]), st.floats(0.0, 2000.0))
)
receipts = st.builds(
    Receipt,
    key=st.just("T-1:pay:v1"),
    intent=st.sampled_from(["this", "that"]),
    state=st.sampled_from(list(ReceiptState)),
    attempt=st.integers(1, 9),
    actor=st.sampled_from(["cli", "dispatcher", "agent ann"]),
    began_at=st.floats(NOW.wall - 20 * DAY, NOW.wall + DAY),
    changed_at=st.just(NOW.wall),
    terms=terms,
    until=deadlines,
)


def receipt(state: ReceiptState, **changes: object) -> Receipt:
    known: dict[str, object] = {
        "key": "k", "intent": "this", "state": state, "attempt": 1, "actor": "cli", "began_at": NOW.wall,
        "changed_at": NOW.wall,
    }  # fmt: skip
    return Receipt(**{**known, **changes})  # pyright: ignore[reportArgumentType]  # fields by name


@given(receipts, st.booleans())
def test_it_is_brought_about_only_when_it_is_certain_or_harmless(known: Receipt, alone: bool) -> None:
    step = decide(known, "this", alone=alone, now=NOW)
    if step is Step.BEGIN:
        assert known.state is ReceiptState.FAILED
    if step is Step.REPEAT:
        assert known.state in (ReceiptState.BEGUN, ReceiptState.IN_DOUBT)
        assert known.terms.idempotent
        assert 0 <= NOW.wall - known.began_at < known.terms.retention
    if step in (Step.BEGIN, Step.REPEAT, Step.RECONCILE):
        assert alone
        assert known.intent == "this"


@given(receipts, st.booleans())
def test_a_key_that_stands_for_something_else_is_always_refused(known: Receipt, alone: bool) -> None:
    assert (decide(known, "this", alone=alone, now=NOW) is Step.REFUSE) == (known.intent != "this")


@given(receipts, st.booleans())
def test_what_happened_gives_its_answer_and_nothing_else_does(known: Receipt, alone: bool) -> None:
    step = decide(known, known.intent, alone=alone, now=NOW)
    assert (step is Step.GIVE_ANSWER) == (known.state is ReceiptState.DONE)


@given(receipts)
def test_every_step_of_somebody_alone_fits_the_table_of_moves(known: Receipt) -> None:
    step = decide(known, known.intent, alone=True, now=NOW)
    if step is Step.REPEAT:
        assert known.state is ReceiptState.BEGUN or (known.state, ReceiptState.BEGUN) in RECEIPT_MOVES
    if step is Step.BEGIN:
        assert (known.state, ReceiptState.BEGUN) in RECEIPT_MOVES


@pytest.mark.parametrize(
    ("known", "alone", "step"),
    [
        (None, True, Step.BEGIN),
        (receipt(ReceiptState.DONE), False, Step.GIVE_ANSWER),
        (receipt(ReceiptState.FAILED), True, Step.BEGIN),
        (receipt(ReceiptState.FAILED), False, Step.WAIT),
        (receipt(ReceiptState.BEGUN), False, Step.WAIT),
        (receipt(ReceiptState.BEGUN), True, Step.RECONCILE),
        (receipt(ReceiptState.BEGUN, until=Deadline("boot", 1000.1)), True, Step.WAIT),
        (receipt(ReceiptState.BEGUN, until=Deadline("boot", 1000.0)), True, Step.RECONCILE),
        (receipt(ReceiptState.BEGUN, until=Deadline("other", 9999.0)), True, Step.RECONCILE),
        (receipt(ReceiptState.BEGUN, terms=Terms(True)), True, Step.REPEAT),
        (receipt(ReceiptState.IN_DOUBT, terms=Terms(True)), True, Step.REPEAT),
        (receipt(ReceiptState.IN_DOUBT), True, Step.RECONCILE),
    ],
)
def test_the_table(known: Receipt | None, alone: bool, step: Step) -> None:
    assert decide(known, "this", alone=alone, now=NOW) is step


@pytest.mark.parametrize(
    ("age", "may"), [(0.0, True), (DAY - 301, True), (DAY - 300, False), (DAY, False), (-1.0, False)]
)
def test_a_repetition_ends_with_the_retention_and_with_a_clock_set_back(age: float, may: bool) -> None:
    begun = receipt(ReceiptState.BEGUN, began_at=NOW.wall - age, terms=Terms(True, DAY))
    assert may_repeat(begun, NOW.wall) is may


def test_doubt_waits_for_a_person_and_so_does_a_failure_that_nobody_saw() -> None:
    assert needs_person(receipt(ReceiptState.IN_DOUBT))
    assert needs_person(receipt(ReceiptState.FAILED, actor="dispatcher"))
    assert not needs_person(receipt(ReceiptState.FAILED))
    assert not needs_person(receipt(ReceiptState.BEGUN))
    assert "recall effect done k" in waiting_words(receipt(ReceiptState.IN_DOUBT))


@given(st.lists(st.text()), st.binary(), st.lists(st.text()), st.binary())
def test_two_intents_are_one_only_if_command_and_payload_are(
    words: list[str], payload: bytes, others: list[str], other: bytes
) -> None:
    assert (intent_of(words, payload) == intent_of(others, other)) == ((words, payload) == (others, other))


@pytest.mark.parametrize("key", ["T-12:publish:v1", "main:T-1/x@2", "a", "k" * 200])
def test_plain_words_are_keys(key: str) -> None:
    assert is_key(key)


@pytest.mark.parametrize("key", ["", "-x", "two words", "a\n", "$(id)", "é", "k" * 201, "a;b", "{key}"])
def test_what_a_shell_or_an_address_would_read_otherwise_is_no_key(key: str) -> None:
    assert not is_key(key)


def test_an_answer_is_cleaned_and_bounded() -> None:
    assert kept_answer(b"a\x1b[2Jb\xff") == "ab\ufffd"
    kept = kept_answer(b"x" * (ANSWER_LIMIT + 1))
    assert kept.startswith("x" * ANSWER_LIMIT)
    assert "only its beginning is kept" in kept
    assert kept_answer(b"x" * ANSWER_LIMIT) == "x" * ANSWER_LIMIT
