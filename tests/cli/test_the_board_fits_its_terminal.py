"""`recall status --watch` never wraps and never cuts without saying so."""

from __future__ import annotations

from recall.cli.report import fitted
from recall.domain.text import cells


def test_long_and_wide_lines_end_in_an_ellipsis() -> None:
    lines = fitted(["short", "x" * 100, "日本語" * 20], 20, 24)
    assert lines[0] == "short"
    assert [line[-1] for line in lines[1:]] == ["…", "…"]
    assert max(cells(line) for line in lines) <= 20


def test_what_does_not_fit_is_counted() -> None:
    lines = fitted([str(number) for number in range(30)], 80, 10)
    assert len(lines) == 10
    assert lines[-1] == "… and 21 more lines"
