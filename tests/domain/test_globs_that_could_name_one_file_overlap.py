"""Two globs overlap when some path matches both; a doubt counts as yes, a certain no as no."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.domain.globs import overlap, overlapping

MEET = [
    ("src/a.py", "src/a.py"),
    ("src/*.py", "src/a.py"),
    ("src/**", "src/deep/er/a.py"),
    ("src", "src/a.py"),
    ("src/", "src/x/y"),
    ("./src/a.py", "src/a.py"),
    ("**/test_*.py", "tests/unit/test_a.py"),
    ("**/a.py", "a.py"),
    ("a/**/z", "a/z"),
    ("*.md", "docs/deep/README.md"),
    ("src/*/x.py", "src/y/*.py"),
    ("a*c", "ab*"),
    ("*a", "b*"),
    ("src/[a-c].py", "src/[c-d].py"),
    ("src/[!a].py", "src/b.py"),
    ("src/{a,b}.py", "src/b.py"),
    ("{src,lib}/**", "lib/x"),
    ("src/?.py", "src/ä.py"),
    ("../x", "anything"),
    ("**", "a"),
    (r"src/\*.py", "src/*.py"),
    ("src/[]a].py", "src/].py"),
    ("src/[", "src/["),
]

APART = [
    ("src/a.py", "src/b.py"),
    ("src/*.py", "src/a.ts"),
    ("src/**", "lib/**"),
    ("src", "srcs/a.py"),
    ("README.md", "docs/README.md"),
    ("src/*.py", "src/deep/a.py"),
    ("src/[a-c].py", "src/[d-f].py"),
    ("src/[!a].py", "src/a.py"),
    ("src/{a,b}.py", "src/c.py"),
    ("src/a?c", "src/ac"),
    ("*.py", "docs/[ab].md"),
    (r"src/\*.py", "src/a.py"),
    ("*.py", "docs/*.md"),
]


@pytest.mark.parametrize(("one", "other"), MEET)
def test_globs_that_meet(one: str, other: str) -> None:
    assert overlap(one, other)
    assert overlap(other, one)


@pytest.mark.parametrize(("one", "other"), APART)
def test_globs_that_never_meet(one: str, other: str) -> None:
    assert not overlap(one, other)
    assert not overlap(other, one)


def test_the_pair_that_meets_is_named() -> None:
    assert overlapping(["docs/*", "src/*.py"], ["lib/**", "src/a.py"]) == ("src/*.py", "src/a.py")
    assert overlapping(["docs/*"], []) is None


GLOBS = st.lists(
    st.one_of(
        st.just("**"), st.lists(st.sampled_from(["a", "b", "*", "?", "[ab]", "[!a]"]), min_size=1).map("".join)
    ),
    min_size=1,
    max_size=4,
).map("/".join)
PATHS = st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=5).map("/".join)


def matches(glob: str, path: str) -> bool:
    """Match by a regular expression: another way than the one under test."""
    expression = ""
    for index, segment in enumerate(glob.split("/")):
        last = index == glob.count("/")
        if segment == "**":
            expression += ".*" if last else "(?:[^/]+/)*"
            continue
        body = re.sub(r"\*+", "[^/]*", segment).replace("?", "[^/]").replace("[!a]", "[^a/]")
        expression += body + ("" if last else "/")
    return re.fullmatch(expression, path) is not None


@given(GLOBS, GLOBS, PATHS)
def test_a_path_that_matches_both_is_never_missed(one: str, other: str, path: str) -> None:
    if matches(one, path) and matches(other, path):
        assert overlap(one, other)


@given(GLOBS, GLOBS)
def test_overlap_is_symmetric(one: str, other: str) -> None:
    assert overlap(one, other) == overlap(other, one)


@pytest.mark.parametrize("hostile", ["*a" * 50_000, "**/" * 50_000, "{a,b}" * 1000, "{" * 50_000, "[" * 50_000])
def test_a_hostile_glob_takes_no_time(hostile: str) -> None:
    started = time.perf_counter()
    overlap(hostile, hostile + "x")
    assert time.perf_counter() - started < 5
