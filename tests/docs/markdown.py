"""What the documents show: code blocks, code in running text, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: The change log speaks of what was, so it is not held to what is.
DOCUMENTS = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))

_FENCE = re.compile(r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Shown:
    """A piece of code in a document. `kind` is a block's language, empty for code in running text."""

    document: Path
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.document.name}: {' '.join(self.text.split())[:80]}"


def blocks(*kinds: str) -> Iterator[Shown]:
    for document in DOCUMENTS:
        for found in _FENCE.finditer(document.read_text("utf-8")):
            if found["kind"] in kinds:
                yield Shown(document, found["kind"], found["text"])


def spans() -> Iterator[Shown]:
    for document in DOCUMENTS:
        for found in _SPAN.finditer(_FENCE.sub("", document.read_text("utf-8"))):
            yield Shown(document, "", " ".join(found[2].split()))


def links() -> Iterator[tuple[Path, str]]:
    for document in DOCUMENTS:
        for found in _LINK.finditer(_FENCE.sub("", document.read_text("utf-8"))):
            yield document, found["target"]


def anchors(document: Path) -> set[str]:
    """The places of a document that a link can name, as the usual renderers make them of its headings."""
    heads = re.findall(r"^#+ (.+)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
