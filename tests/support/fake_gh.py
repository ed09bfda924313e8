"""Stands in for `gh` where it asks GitHub: `pr create` and `pr list`, with pull requests kept in a JSON file.

Its first argument is that file. `mood` in it says how it behaves: "" as it should, "loses" does what it is told and
fails all the same, "refuses" and "refuses to create" do nothing and fail, "vanishes" dies by SIGKILL once it is done.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any


def main(argv: list[str]) -> int:
    file = Path(argv[0])
    options = argparse.ArgumentParser()
    options.add_argument("topic", choices=["pr"])
    options.add_argument("verb", choices=["create", "list"])
    for name in ("repo", "head", "base", "title", "body", "state", "json"):
        options.add_argument(f"--{name}")
    asked = options.parse_args(argv[1:])
    kept: dict[str, Any] = json.loads(file.read_text())
    kept["environ"] = sorted(os.environ)
    if kept["mood"] in (f"refuses to {asked.verb}", "refuses"):
        return _complain("GraphQL: the host has a bad day")
    done = _create(kept, asked) if asked.verb == "create" else _list(kept, asked)
    file.write_text(json.dumps(kept))
    if asked.verb == "create" and kept["mood"] == "vanishes":
        os.kill(os.getpid(), signal.SIGKILL)
    return done


def _create(kept: dict[str, Any], asked: argparse.Namespace) -> int:
    there = ["git", "-C", asked.repo, "rev-parse", "--verify", "-q", f"refs/heads/{asked.head}"]
    if subprocess.run(there, stdout=subprocess.DEVNULL, check=False).returncode != 0:
        return _complain(f"Head sha can't be blank: no branch {asked.head}")
    if any(one["head"] == asked.head and one["state"] == "OPEN" for one in kept["requests"]):
        return _complain(f"a pull request for branch {asked.head!r} into branch {asked.base!r} already exists")
    url = f"https://host.invalid/pull/{len(kept['requests']) + 1}"
    request = {"url": url, "state": "OPEN", "mergeCommit": None, "head": asked.head, "base": asked.base}
    kept["requests"].append({**request, "title": asked.title, "body": asked.body})
    if kept["mood"] == "loses":
        return _complain("error connecting to host.invalid")
    print(f"Creating pull request for {asked.head} into {asked.base}", file=sys.stderr)
    print(url)
    return 0


def _list(kept: dict[str, Any], asked: argparse.Namespace) -> int:
    assert asked.state == "all"
    found = [one for one in kept["requests"] if (one["head"], one["base"]) == (asked.head, asked.base)]
    print(json.dumps([{name: one[name] for name in asked.json.split(",")} for one in reversed(found)]))
    return 0


def _complain(words: str) -> int:
    print(words, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
