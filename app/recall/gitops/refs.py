"""Reading one ref from its file, without starting git: main is looked at many times in each landing.

Only what is certain is answered here. A repository that keeps its refs in another way, or a ref that is neither a
plain file nor packed, is for git itself to read.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

_OID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PLAIN = re.compile(r"refs/(?!.*(?:\.\.|//|@\{))[^\0-\x20\x7f~^:?*\[\\]+")


def read_ref(common_dir: Path, ref: str) -> str | None:
    """Give the object id of a full ref name, empty when there is no such ref. None: ask git."""
    if not _PLAIN.fullmatch(ref) or (common_dir / "reftable").exists():
        return None
    loose = _content(common_dir / ref)
    if loose:
        return loose.decode() if _OID.fullmatch(loose := loose.strip()) else None
    packed = _content(common_dir / "packed-refs")
    if loose is None or packed is None:
        return None
    found = re.search(rb"^([0-9a-f]{40,64}) " + re.escape(os.fsencode(ref)) + rb"$", packed, re.MULTILINE)
    return found[1].decode() if found else ""


def _content(file: Path) -> bytes | None:
    """Give a file's bytes, none when it does not exist. None: it is there and cannot be read as a file."""
    try:
        opened = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError:
        return None
    try:
        return b"".join(iter(lambda: os.read(opened, 1024 * 1024), b""))
    except OSError:
        return None
    finally:
        os.close(opened)
