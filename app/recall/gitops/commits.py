"""A commit object as bytes: taken apart, changed, put together again. Pure; nothing here starts git.

Commits are rewritten as objects rather than through `commit-tree`, so that author, dates and encoding stay
exactly as they were, and a whole range is written with one process.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from recall.domain.frozen import frozen

#: They vouch for bytes that are no longer there after a rewrite.
_SIGNATURES = (b"gpgsig", b"gpgsig-sha256", b"mergetag")

_TRAILER = re.compile(rb"[A-Za-z0-9-]+[ \t]*:(?:[ \t]|$)")
_KNOWN_TRAILER = re.compile(rb"Signed-off-by: |\(cherry picked from commit ")


@frozen
class Commit:
    """`headers` are (name, value) in their order, continuation lines joined with line feeds."""

    headers: tuple[tuple[bytes, bytes], ...]
    message: bytes

    @classmethod
    def parse(cls, raw: bytes) -> Commit:
        """Take a commit object's content apart."""
        head, _, message = raw.partition(b"\n\n")
        headers: list[tuple[bytes, bytes]] = []
        for line in head.split(b"\n"):
            if line.startswith(b" ") and headers:
                name, value = headers[-1]
                headers[-1] = (name, value + b"\n" + line[1:])
            else:
                name, _, value = line.partition(b" ")
                headers.append((name, value))
        return cls(tuple(headers), message)

    @classmethod
    def new(cls, tree: str, parents: Sequence[str], author: bytes, committer: bytes, message: bytes) -> Commit:
        """Make a commit from nothing. `author` and `committer` are `Name <mail> SECONDS ZONE`."""
        blank = cls(((b"author", author), (b"committer", committer)), message)
        return blank.moved(tree, parents)

    @property
    def raw(self) -> bytes:
        head = b"\n".join(name + b" " + value.replace(b"\n", b"\n ") for name, value in self.headers)
        return head + b"\n\n" + self.message

    @property
    def tree(self) -> str:
        return self._header(b"tree").decode()

    @property
    def parents(self) -> tuple[str, ...]:
        return tuple(value.decode() for name, value in self.headers if name == b"parent")

    @property
    def author(self) -> bytes:
        return self._header(b"author")

    def _header(self, wanted: bytes) -> bytes:
        return next((value for name, value in self.headers if name == wanted), b"")

    def oid(self, algorithm: str) -> str:
        """The object's id; `algorithm` is `sha1` or `sha256`."""
        raw = self.raw
        return hashlib.new(algorithm, b"commit %d\0" % len(raw) + raw, usedforsecurity=False).hexdigest()

    def moved(self, tree: str, parents: Sequence[str]) -> Commit:
        """The same commit with another tree and other parents, and without the signatures that covered them."""
        kept = [pair for pair in self.headers if pair[0] not in (b"tree", b"parent", *_SIGNATURES)]
        head = [(b"tree", tree.encode()), *((b"parent", parent.encode()) for parent in parents)]
        return replace(self, headers=(*head, *kept))

    def committed_by(self, committer: bytes) -> Commit:
        return replace(
            self, headers=tuple((name, committer if name == b"committer" else value) for name, value in self.headers)
        )

    def with_trailers(self, trailers: Mapping[str, str]) -> Commit:
        """Add trailers at the end of the message, in the block that is there if there is one. Trailers of the
        same names are replaced: an agent may have written its own."""
        encoding = self._header(b"encoding").decode("ascii", "replace") or "utf-8"
        return replace(self, message=add_trailers(self.message, trailers, encoding))


def add_trailers(message: bytes, trailers: Mapping[str, str], encoding: str = "utf-8") -> bytes:
    """Give `message` with `trailers` where `git interpret-trailers` would put them."""
    body = message.rstrip()
    head, gap, last = body.rpartition(b"\n\n")
    lines = last.split(b"\n")
    if gap and _is_trailer_block(lines):
        names = {name.lower().encode() for name in trailers}
        lines = [line for line in lines if line.partition(b":")[0].strip().lower() not in names]
        body = head if not lines else head + gap + b"\n".join(lines)
        gap = b"\n" if lines else b"\n\n"
    else:
        gap = b"\n\n"
    added = b"\n".join(_encoded(f"{name}: {' '.join(value.split())}", encoding) for name, value in trailers.items())
    return (body + gap + added if added else body) + b"\n"


def _is_trailer_block(lines: Sequence[bytes]) -> bool:
    """Tell whether a paragraph is one, by git's rule: nothing but trailers, or a known one and a quarter of it."""
    trailers = [line for line in lines if _TRAILER.match(line) or _KNOWN_TRAILER.match(line)]
    others = [line for line in lines if line not in trailers and not line.startswith((b" ", b"\t"))]
    if not others:
        return bool(trailers)
    return any(map(_KNOWN_TRAILER.match, lines)) and len(trailers) * 3 >= len(others)


def _encoded(text: str, encoding: str) -> bytes:
    try:
        return text.encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return text.encode("utf-8", "replace")


def joined_message(commits: Sequence[Commit]) -> bytes:
    """One message out of several, in their order, each text once. Authors other than the last commit's are
    kept as `Co-authored-by`."""
    messages = list(dict.fromkeys(commit.message.strip() for commit in commits))
    own = _who(commits[-1])
    others = dict.fromkeys(_who(commit) for commit in commits if _who(commit) != own)
    credits_ = b"\n".join(b"Co-authored-by: " + who for who in others)
    return b"\n\n".join([*messages, credits_] if credits_ else messages) + b"\n"


def _who(commit: Commit) -> bytes:
    return commit.author.rpartition(b">")[0] + b">"
