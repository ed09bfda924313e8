"""Each bar stands where its time is, whatever is zoomed and moved, and the chart below is in the same time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from textual.app import App, ComposeResult

from recall_widgets.glyphs import ASCII, UNICODE, Shown, Symbols
from recall_widgets.landed_chart import LandedChart, Landings, per_hour
from recall_widgets.spans import width_of
from recall_widgets.time_window import STEPS, TimeWindow, axis, step_for
from recall_widgets.timeline import MARGIN, Bar, Lane, TimelineView
from tests.support.pilot import run_app, screen_lines
from tests.widgets.stage import HOSTILE, assert_harmless

NOW = datetime.fromisoformat("2026-11-30T07:30").astimezone().timestamp()
HOUR = 3600.0


def _bar(number: int, begin: float, length: float | None, state: Shown = Shown.DONE) -> Bar:
    return Bar(f"run:{number}", NOW + begin, None if length is None else NOW + begin + length, state, f"T-{number}")


class Stage(App[None]):
    def __init__(self, symbols: Symbols = UNICODE) -> None:
        super().__init__()
        self.view = TimelineView(symbols=symbols, id="lanes")
        self.chart = LandedChart(symbols=symbols)

    def compose(self) -> ComposeResult:
        yield self.view
        yield self.chart

    def get_theme_variable_defaults(self) -> dict[str, str]:
        names = ("muted", "run", "land", "good", "needs-you", "bad", "cool", "cursor", "cursor-away")
        return dict.fromkeys(names, "#808080")


# -- time as cells ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("width", [1, 20, 107, 187])
def test_an_axis_fits_and_names_the_cell_it_stands_over(step: int, width: int) -> None:
    window = TimeWindow.up_to(NOW, width, step)
    spans = axis(window, width)
    assert width_of(spans) <= width
    place = 0
    for span in spans:
        if ":" in span.text:
            begin = window.begin + place * step
            text = datetime.fromtimestamp(begin).astimezone().strftime("%H:%M:%S")
            later = datetime.fromtimestamp(begin + step).astimezone().strftime("%H:%M:%S")
            whole = span.text if len(span.text) == 8 else f"{span.text}:00"
            assert text <= whole <= later or later < text  # a cell over midnight
        place += len(span.text)


def test_now_is_at_the_right_end_and_moves_by_whole_cells() -> None:
    window = TimeWindow.up_to(NOW, 100, 300)
    assert window.cell(NOW) == 98
    assert TimeWindow.up_to(NOW + 299 - NOW % 300, 100, 300) == TimeWindow.up_to(NOW - NOW % 300, 100, 300)


@pytest.mark.parametrize("by", [-30, -1, 1, 30])
def test_what_is_zoomed_around_stays_where_it_is(by: int) -> None:
    window = TimeWindow(NOW - 50 * 300, 300)
    zoomed = window.zoomed(by, NOW)
    assert zoomed.step in STEPS
    assert zoomed.cell(NOW + zoomed.step / 2) == 50


@pytest.mark.parametrize("seconds", [1.0, 600.0, 9 * HOUR, 86_400.0, 1e12])
def test_a_step_is_the_finest_in_which_everything_fits(seconds: float) -> None:
    step = step_for(seconds, 107)
    assert step * 105 >= seconds or step == STEPS[-1]
    assert step == STEPS[0] or STEPS[STEPS.index(step) - 1] * 105 < seconds


# -- lanes -----------------------------------------------------------------------------------------------------
def test_bars_stand_in_their_time_with_their_sign_and_name() -> None:
    lanes = [
        Lane("ant:0", "ant", (_bar(1, -HOUR, HOUR / 2), _bar(2, -HOUR / 4, None, Shown.RUNNING))),
        Lane("bee:0", "bee", (_bar(3, -HOUR, 60, Shown.FAILED),)),
    ]

    async def look(app: Stage, pilot: Any) -> None:
        app.view.show(lanes, NOW)
        await pilot.pause()
        window = app.view.window
        assert window is not None
        ant, bee = screen_lines(app)[:2]
        assert ant.startswith("ant")
        assert ant.index("✓T-1") == MARGIN + window.cell(NOW - HOUR) == bee.index("✗")
        assert ant.index("◐T-2") == MARGIN + window.cell(NOW - HOUR / 4)
        assert ant[MARGIN + window.cell(NOW) - 1 :].startswith("━│")
        assert bee[MARGIN + window.cell(NOW)] == "│"

    run_app(Stage(), (100, 10), look)


def test_left_and_right_go_from_run_to_run_and_bring_them_in_sight() -> None:
    lanes = [Lane("ant:0", "ant", (_bar(1, -40 * HOUR, HOUR), _bar(2, -HOUR, HOUR / 2)))]

    async def look(app: Stage, pilot: Any) -> None:
        app.view.show(lanes, NOW)
        app.view.focus()
        await pilot.pause()
        assert app.view.bar is not None
        assert app.view.bar.key == "run:2"
        assert "T-1" not in "".join(screen_lines(app))
        await pilot.press("left", "plus", "plus")
        assert app.view.bar is not None
        assert app.view.bar.key == "run:1"
        assert "✓T-1" in screen_lines(app)[0]
        app.view.show(lanes, NOW + 5 * HOUR)
        await pilot.pause()
        assert "✓T-1" in screen_lines(app)[0], "a moved window stays where it was put"
        await pilot.press("n")
        window = app.view.window
        assert window is not None
        assert window.cell(NOW + 5 * HOUR) == app.view.chart_width - 2
        await pilot.press("h")
        moved = app.view.window
        assert moved is not None
        assert moved.begin < window.begin

    run_app(Stage(), (100, 10), look)


@pytest.mark.parametrize("size", [(40, 10), (14, 3), (8, 3)])
@pytest.mark.parametrize("symbols", [UNICODE, ASCII], ids=["signs", "ascii"])
def test_no_name_or_size_breaks_a_lane(size: tuple[int, int], symbols: Symbols) -> None:
    lanes = [
        Lane(f"{n}:0", text, (Bar(f"run:{n}", NOW - HOUR, NOW, Shown.DONE, text),)) for n, text in enumerate(HOSTILE)
    ]

    async def look(app: Stage, pilot: Any) -> None:
        app.view.show(lanes, NOW)
        app.chart.show(Landings(TimeWindow.up_to(NOW, 20, 60), (NOW,)))
        await pilot.pause()
        assert_harmless(screen_lines(app))
        if symbols.plain:
            assert not set("".join(screen_lines(app))) & set("━✓█")

    run_app(Stage(symbols), size, look)


# -- the chart -------------------------------------------------------------------------------------------------
def test_each_cell_has_what_its_hour_had() -> None:
    hour = NOW - NOW % HOUR
    moments = (hour - 10.0, hour + 1.0, hour + 2.0, hour + HOUR)
    counts = per_hour(Landings(TimeWindow(hour - HOUR, 600), moments), 18)
    assert counts == [1.0] * 6 + [2.0] * 6 + [1.0] * 6


def test_a_cell_longer_than_an_hour_has_the_mean_of_its_hours() -> None:
    begin = NOW - NOW % 7200
    counts = per_hour(Landings(TimeWindow(begin, 7200), (begin, begin + 60, begin + HOUR)), 2)
    assert counts == [1.5, 0.0]


def test_the_highest_column_fills_the_chart_and_the_smallest_is_seen() -> None:
    hour = NOW - NOW % HOUR
    moments = tuple(sorted([hour + n for n in range(100)] + [hour + HOUR]))

    async def look(app: Stage, pilot: Any) -> None:
        app.chart.show(Landings(TimeWindow(hour, 600), moments))
        await pilot.pause()
        lines = screen_lines(app)[-4:]
        assert [line[MARGIN] for line in lines] == ["█"] * 4
        assert [line[MARGIN + 6] for line in lines] == [" ", " ", " ", "▁"]
        assert "100 an hour" in lines[0]

    run_app(Stage(), (80, 12), look)
