"""The parts of a list item: its title lines, an id below it, a field's value below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from recall.tasklist.heads import Head, read_head
from recall.tasklist.ids import is_id
from recall.tasklist.inline import unwrapped
from recall.tasklist.labels import LINKS, fields_of_line, has_open_group
from recall.tasklist.outline import Block
from recall.tasklist.status import Kind

_LINES_OF_A_TITLE = 8
_SEPARATORS = (",", ";", "，", "；", "、", " and", "&")
_BETWEEN_IDS = re.compile(r"[\s,;，；、]+(?:and\s+)?")


def is_emoji_task(head: Head) -> bool:
    return head.labelled is not None and any(mark.kind is Kind.EMOJI for mark in head.marks)


def with_inner_number(block: Block) -> Block:
    """Read `- 2. [ ] Title`, a list inside an item to Markdown, as the numbered item that was meant."""
    inner = block.children[0] if block.children else None
    if inner is None or inner.kind != "list" or inner.start != block.start or not inner.children[0].number:
        return block
    item = inner.children[0]
    first = item.children[0] if item.children else None
    if first is None or first.kind != "paragraph" or not read_head(first.text).boxed:
        return block
    named = replace(first, text=f"{item.number}. {first.text}")
    rest = [replace(inner, children=inner.children[1:])] if len(inner.children) > 1 else []
    return replace(block, children=[named, *item.children[1:], *rest, *block.children[1:]])


def head_text(paragraph: Block) -> tuple[str, int]:
    """Give an item's title line, and how many lines it takes: a bracket left open runs into the next."""
    lines = paragraph.text.split("\n")
    count = 1
    while count < min(len(lines), _LINES_OF_A_TITLE) and has_open_group(" ".join(lines[:count])):
        count += 1
    return " ".join(line.strip() for line in lines[:count]), count


def field_lines(paragraph: Block, skip: int = 0) -> Iterator[tuple[int, str, int]]:
    """Give a paragraph's lines, each with its number and its end. A list of prerequisites that goes on in the next
    line is one of them."""
    lines = list(paragraph.lines())[skip:]
    at = 0
    while at < len(lines):
        pieces = [lines[at][1]]
        if at + 1 < len(lines) and any(found.name in LINKS for found in fields_of_line(pieces[0])[0]):
            while at + len(pieces) < len(lines) and _goes_on(pieces[-1], lines[at + len(pieces)][1]):
                pieces.append(lines[at + len(pieces)][1])
        yield lines[at][0], " ".join(pieces), lines[at][0] + len(pieces)
        at += len(pieces)


def _goes_on(line: str, following: str) -> bool:
    if fields_of_line(following)[0]:
        return False
    words = [word.strip("*`[]#.") for word in _BETWEEN_IDS.split(following) if word]
    return line.endswith(_SEPARATORS) or (bool(words) and all(map(is_id, words)))


def values_below(block: Block) -> tuple[list[str], list[Block]]:
    """Give the texts that are a field's value. Boxes behind plain items are not: they are criteria or tasks."""
    if block.kind == "paragraph":
        return [block.text], []
    texts = [first_text(item) for item in block.children]
    boxed = [read_head(text).boxed for text in texts]
    stop = boxed.index(True) if True in boxed and not boxed[0] else len(boxed)
    left = block.children[stop:]
    return texts[:stop], [replace(block, start=left[0].start, children=left)] if left else []


def id_below(block: Block) -> str | None:
    for text in _lines_below(block):
        for found in fields_of_line(text)[0]:
            value = unwrapped(text[found.start : found.end]).strip("`[] ")
            if found.name == "id" and is_id(value):
                return value
    return None


def _lines_below(block: Block) -> Iterator[str]:
    yield from block.children[0].text.split("\n")[1:]
    for child in block.children[1:]:
        if child.kind == "list":
            yield from (first_text(item).partition("\n")[0] for item in child.children)
        elif child.kind == "paragraph":
            yield from child.text.split("\n")


def first_text(item: Block) -> str:
    return item.children[0].text if item.children and item.children[0].kind == "paragraph" else ""
