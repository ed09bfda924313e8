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
from voice import Voice

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
    voice = Voice(prompt, events="--events" in sys.argv)
    voice.say(f"{name}: working on {task}")
    code = work(task, RECIPES[task], prompt, voice)
    voice.end(failed=code != 0)
    return code


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


def work(task: str, recipe: Recipe, prompt: str, voice: Voice) -> int:
    again = "earlier attempt" in prompt.lower()
    if recipe.hangs_first and not again:
        voice.say("Let me think about this for a while.")
        time.sleep(3600)
    time.sleep(recipe.seconds * PAUSE)
    for path, change in recipe.changes:
        edit(Path(path), change, voice)
    if recipe.wrong_first is not None and not again:
        edit(Path(recipe.wrong_first[0]), recipe.wrong_first[1], voice)
        return report(prompt, "success", f"{task} is finished")
    if not green(voice):
        return report(prompt, "failure", "my own tests are red")
    if recipe.commits:
        git("add", "--all")
        git("commit", "--quiet", "--message", f"{task}: {recipe.message}")
    return report(prompt, "success", recipe.message)


def edit(path: Path, change: str | list[tuple[str, str]], voice: Voice) -> None:
    """Write a whole file, or replace patterns in the one that is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(change, str):
        path.write_text(change)
        voice.use("Write", f"Wrote {path} ({change.count(chr(10))} lines)", file_path=str(path), content=change)
        voice.give("")
        return
    text = before = path.read_text()
    for pattern, replacement in change:
        text = re.sub(pattern, replacement, text, count=1)
    path.write_text(text)
    voice.use("Edit", f"Edited {path}", file_path=str(path), old_string=before, new_string=text)
    voice.give("")


def green(voice: Voice) -> bool:
    command = [sys.executable, "-m", "unittest", "-q"]
    words = " ".join(("python3", *command[1:]))
    voice.use("Bash", f"$ {words}", command=words)
    ended = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    voice.give(ended.stdout.strip(), failed=ended.returncode != 0)
    return ended.returncode == 0


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
