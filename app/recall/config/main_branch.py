"""Which branch is the main one where recall.toml names none, read from git's files."""

from __future__ import annotations

from pathlib import Path


def guess_main(common_dir: Path) -> str:
    """Guess the main branch: what `origin/HEAD` names, else main or master if they exist, else HEAD's branch."""
    heads = _branches(common_dir)
    remote = _symbolic(common_dir / "refs" / "remotes" / "origin" / "HEAD", "refs/remotes/origin/")
    candidates = (remote, "main", "master")
    head = _symbolic(common_dir / "HEAD", "refs/heads/")
    chosen = next((name for name in candidates if name and name in heads), None)
    return chosen or (head if head and not head.startswith(".") else "main")


def _branches(common_dir: Path) -> set[str]:
    root = common_dir / "refs" / "heads"
    loose = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    packed = text_of(common_dir / "packed-refs").splitlines()
    prefix = "refs/heads/"
    names = (line.split(" ", 1)[1] for line in packed if " " in line and not line.startswith("#"))
    return loose | {name.removeprefix(prefix) for name in names if name.startswith(prefix)}


def _symbolic(file: Path, prefix: str) -> str | None:
    word, _, target = text_of(file).strip().partition(": ")
    return target.removeprefix(prefix) if word == "ref" and target.startswith(prefix) else None


def text_of(file: Path) -> str:
    """The text of a file, empty when there is none."""
    try:
        return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    except OSError:
        return ""
