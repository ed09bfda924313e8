"""The block structure of a document: what is a heading, a list item, a table, and what is only code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

from recall.domain.frozen import frozen
from recall.tasklist.inline import without_comments
from recall.tasklist.problem import Problem, error, note, warning
from recall.tasklist.source import Source

MAX_NESTING = 200

_CONTAINERS = {
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "list_item_open": "item",
    "blockquote_open": "quote",
    "paragraph_open": "paragraph",
    "heading_open": "heading",
    "table_open": "table",
    "tr_open": "row",
}
_LEAVES = {"fence": "fence", "code_block": "code", "html_block": "html"}
_TASK_LIKE = re.compile(
    r"^[ \t]*(?:[-*+]|\d{1,9}[.)])?[ \t]*\\?\[[ xX]?\\?\]\*?[ \t]*[*`\[]{0,4}[A-Za-z]{0,12}[-_]?\d", re.MULTILINE
)
_BOX_LIKE = re.compile(r"^[-*+] +\[[ xX]\] ", re.MULTILINE)


@dataclass(slots=True)
class Block:
    """A piece of the document. Lines count from 0, `end` is the line after the last.

    `text` is the raw inline text of a heading, paragraph or cell, its lines stripped. `number` is an ordered
    item's number, `level` a heading's.
    """

    kind: str
    start: int
    end: int
    text: str = ""
    level: int = 0
    number: str = ""
    children: list[Block] = field(default_factory=list["Block"])
    cells: list[str] = field(default_factory=list[str])

    def lines(self) -> Iterator[tuple[int, str]]:
        """Give a paragraph's lines with their numbers."""
        for offset, line in enumerate(self.text.split("\n")):
            yield self.start + offset, line.strip()


@frozen
class Outline:
    blocks: list[Block]
    problems: list[Problem]


def read_outline(source: Source) -> Outline:
    """Parse block structure only. The inline rules are off: they take seconds on hostile lines."""
    blank = [""] * source.front_matter
    text = "\n".join((*blank, *source.lines[source.front_matter :], ""))
    tokens = _parser().parse(text)
    return Outline(_tree(tokens), [*_structure_problems(tokens), *_conflicts(source, tokens)])


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table")
    return parser.disable(["inline", "text_join", "reference"])


def _tree(tokens: list[Token]) -> list[Block]:
    root = Block("document", 0, 0)
    stack = [root]
    for token in tokens:
        if token.type in _CONTAINERS:
            block = _block(_CONTAINERS[token.type], token)
            stack[-1].children.append(block)
            stack.append(block)
        elif token.type in _LEAVES:
            stack[-1].children.append(_block(_LEAVES[token.type], token))
        elif token.type == "inline":
            _add_text(stack[-1], token)
        elif token.nesting == -1 and f"{token.type.removesuffix('_close')}_open" in _CONTAINERS:
            stack.pop()
    return root.children


def _block(kind: str, token: Token) -> Block:
    start, end = token.map or (0, 0)
    level = int(token.tag[1:]) if kind == "heading" else 0
    return Block(kind, start, end, token.content, level, token.info if kind == "item" else "")


def _add_text(block: Block, token: Token) -> None:
    if block.kind == "row":
        block.cells.append(token.content)
    else:
        block.text = token.content


def _structure_problems(tokens: list[Token]) -> Iterator[Problem]:
    for token in tokens:
        line, end = token.map or (0, 0)
        if token.type in {"list_item_open", "blockquote_open"} and token.level + 1 >= MAX_NESTING:
            yield error(
                "too_deep",
                line,
                f"lists and quotations are nested deeper than {MAX_NESTING // 2} levels here, and what follows could "
                "not be read; expected at most that; move the inner items to lists of their own",
            )
        elif token.type == "fence" and token.content.count("\n") + 2 > end - line:
            yield _unclosed_fence(token, line)
        elif token.type == "html_block":
            yield from _html_problems(token, line)
        elif token.type == "code_block" and _TASK_LIKE.search(token.content):
            yield note(
                "task_in_code",
                line,
                "what looks like a task is indented as code and was not read; outdent it to make it one",
            )


def _unclosed_fence(token: Token, line: int) -> Problem:
    tasks = len(_TASK_LIKE.findall(token.content))
    swallowed = f", also {tasks} that look like tasks" if tasks else ""
    return warning(
        "unclosed_fence",
        line,
        f"the code fence that opens here is never closed, so everything below it is code{swallowed}; "
        f"close it with a line of {token.markup}",
    )


def _html_problems(token: Token, line: int) -> Iterator[Problem]:
    content = token.content
    if content.lstrip().startswith("<!--"):
        if "-->" not in content:
            yield warning(
                "unclosed_comment",
                line,
                "the comment is never closed, so nothing below it was read; close it with `-->`",
            )
        content = without_comments(content).partition("<!--")[0]
    if _TASK_LIKE.search(content) or _BOX_LIKE.search(content):
        yield warning(
            "task_in_html",
            line,
            "what looks like a task stands inside an HTML block and was not read; put an empty line before the list",
        )


def _conflicts(source: Source, tokens: list[Token]) -> Iterator[Problem]:
    if not source.conflict_lines:
        return
    code = [token.map for token in tokens if token.type == "fence" and token.map]
    for line in source.conflict_lines:
        if line >= source.front_matter and not any(start < line < end for start, end in code):
            yield error(
                "conflict_marker",
                line,
                f"found the conflict marker `{source.lines[line][:20]}`; resolve the conflict and import again",
            )
