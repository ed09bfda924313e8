"""A scripted stand-in for a coding agent: it reads a prompt on stdin and works in the current folder.

It knows what a real agent would know: the text of the prompt, the files around it, and its own account (a
small file beside this script, as a provider keeps one on its servers). What it "thinks" was written down
beforehand in `recipes.py`; everything that it does is done for real: files, commits, tests, reports.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

from recipes import RECIPES, Recipe

HERE = Path(__file__).resolve().parent
PAUSE = float(os.environ.get("REHEARSAL_PAUSE", "1.0"))


def main() -> int:
    name = sys.argv[1]
    prompt = sys.stdin.read()
    found = re.search(r"\bR-\d\d\b", prompt)
    if found is None:
        print("I see no task in this prompt.")
        return 2
    if over_quota(name):
        return 1
    task = found.group()
    print(f"{name}: working on {task}")
    return work(task, RECIPES[task], prompt)


def over_quota(name: str) -> bool:
    """Two of the accounts are generous; the third allows one run, then pauses for a few seconds, once."""
    account = HERE / f"account-{name}.json"
    used = json.loads(account.read_text())["runs"] if account.exists() else 0
    account.write_text(json.dumps({"runs": used + 1}))
    if name != "mole" or used != 1:
        return False
    print(f"Error: usage limit reached, resets at epoch {int(time.time()) + 4}", file=sys.stderr)
    print(f"Claude AI usage limit reached|{int(time.time()) + 4}")
    return True


def work(task: str, recipe: Recipe, prompt: str) -> int:
    again = "earlier attempt" in prompt.lower()
    if recipe.hangs_first and not again:
        print("Let me think about this for a while.", flush=True)
        time.sleep(3600)
    time.sleep(recipe.seconds * PAUSE)
    for path, change in recipe.changes:
        edit(Path(path), change)
    if recipe.wrong_first is not None and not again:
        edit(Path(recipe.wrong_first[0]), recipe.wrong_first[1])
        return report(prompt, "success", f"{task} is finished")
    if not green():
        return report(prompt, "failure", "my own tests are red")
    if recipe.commits:
        git("add", "--all")
        git("commit", "--quiet", "--message", f"{task}: {recipe.message}")
    return report(prompt, "success", recipe.message)


def edit(path: Path, change: str | list[tuple[str, str]]) -> None:
    """Write a whole file, or replace patterns in the one that is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(change, str):
        path.write_text(change)
        print(f"Wrote {path} ({change.count(chr(10))} lines)", flush=True)
        return
    text = path.read_text()
    for pattern, replacement in change:
        text = re.sub(pattern, replacement, text, count=1)
    path.write_text(text)
    print(f"Edited {path}", flush=True)


def green() -> bool:
    command = [sys.executable, "-m", "unittest", "-q"]
    print("$", *command[1:], flush=True)
    return subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode == 0


def git(*args: str) -> None:
    identity = ["-c", "user.name=Scripted agent", "-c", "user.email=agent@rehearsal.invalid"]
    subprocess.run(["git", *identity, *args], stdin=subprocess.DEVNULL, check=True)


def report(prompt: str, result: str, summary: str) -> int:
    """Call the command that the prompt spells out, with this result and summary."""
    line = next(line for line in prompt.splitlines() if " outcome " in line and "--result success" in line)
    command = shlex.split(line.strip().strip("`"))
    at = command.index("--result")
    command = [*command[: at + 1], result, "--summary", summary]
    return subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
