"""What a person waits for after `recall import` of a long list: from the file to the committed store.

The baseline is markdown-it-py's own parse of the same text, in this process; the goal allows half of it again and a
second. Each form of a list is imported into an empty store; then one line is changed and the list imported again.

usage: python -m benchmarks.import_list [--tasks 10000] [--rounds 3]
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt

from benchmarks.pairs import interleaved, spread, timed
from benchmarks.scene import BIN, Scene, flat, run

GOAL = "1.5 times the baseline and 1 s"


def sections(count: int) -> str:
    """Headings with a text, fields and criteria, under headings of their own, in rows of seven."""
    return "\n".join(("# Work", "", *(line for number in range(count) for line in _section(number))))


def _section(number: int) -> Iterator[str]:
    if number % 50 == 0:
        yield from (f"## Part {number // 50}", "")
    yield from (f"### T-{number} Make piece {number} of the `module` work", "")
    yield from (f"- after: {_before(number)}", "- type: feature", f"- touches: src/piece_{number}/**", "")
    yield from (f"Piece {number} reads its input and **writes** what it found; see [the notes](notes.md).", "")
    yield from ("- [ ] it is tested", "- [ ] it is documented", "")


def checklist(count: int) -> str:
    """One line for each task, with its fields in it."""
    return "\n".join(
        f"- [ ] T-{number} Make piece {number} of `module` (after: {_before(number)}) [type: feature]"
        for number in range(count)
    )


def table(count: int) -> str:
    rows = (
        f"| T-{number} | Make piece {number} of `module` | {_before(number)} | feature |" for number in range(count)
    )
    return "\n".join(("| ID | Task | After | Type |", "| --- | --- | --- | --- |", *rows))


def _before(number: int) -> str:
    return f"T-{number - 1}" if number % 7 else "none"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    for form in (sections, checklist, table):
        with tempfile.TemporaryDirectory(prefix="recall-bench-") as place:
            _measure(
                form.__name__,
                form(arguments.tasks),
                Path(place, "scene"),
                arguments.rounds,
            )


def _measure(name: str, text: str, folder: Path, rounds: int) -> None:
    scene = Scene.make(folder, flat(1), agents=1)
    watched = scene.repository / "TASKS.md"
    again: list[float] = []

    def recall_import() -> float:
        return timed(lambda: run([str(BIN / "recall"), "import"], scene.repository, scene.env))

    def afresh() -> float:
        shutil.rmtree(scene.repository / ".git" / "recall", ignore_errors=True)
        watched.write_text(text)
        seconds = recall_import()
        watched.write_text(text.replace("piece 1 ", "piece one ", 1))
        again.append(recall_import())
        return seconds

    found = interleaved(f"import of {name}", afresh, lambda: timed(lambda: _parser().parse(text)), rounds)
    imported, parsed = statistics.median(found.subject), statistics.median(found.baseline)
    met = "met" if imported <= 1.5 * parsed + 1.0 else "missed"
    print(f"{found.name:32} {spread(found.subject)}   against {spread(found.baseline)}   (goal {GOAL}: {met})")
    print(f"{'  again, one line changed':32} {spread(again)}", flush=True)


def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


if __name__ == "__main__":
    main()
