"""A coding agent for tests. It knows its prompt and its workspace, nothing of Recall.

What it does is written in the prompt (so a task's body can hold it), as a fenced block:

    ```fake-agent
    say working on it
    write src/a.txt some text
    commit did it
    report success all done
    ```

Commands, one a line: `say TEXT`, `write PATH TEXT`, `append PATH TEXT`, `commit MESSAGE`, `sh COMMAND`,
`sleep SECONDS`, `spin SECONDS`, `report RESULT SUMMARY`, `ask QUESTION`, `heartbeat`, `flood BYTES`, `hang`, `deaf`
(ignore TERM, INT, HUP), `stray SECONDS` (a daemon that leaves the session), `die SIGNAL`, `exit STATUS`.
Reports are made by the commands that the prompt spells. Without a block it does some work and reports success.

The prompt comes by standard input, or with `--prompt TEXT` or `--prompt-file PATH` before it.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

_BLOCK = re.compile(r"^(?P<indent>[ \t]*)```fake-agent[ \t]*\n(?P<script>.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_DEFAULT = "write work.txt done by the fake agent\ncommit work\nreport success did some work"


def read_prompt(arguments: list[str]) -> str:
    match arguments:
        case ["--prompt-file", path]:
            return Path(path).read_text()
        case ["--prompt", text]:
            return text
        case _:
            return sys.stdin.read()


def script_of(prompt: str) -> list[str]:
    found = _BLOCK.search(prompt)
    script = found["script"] if found else _DEFAULT
    return [line.strip() for line in script.splitlines() if line.strip()]


class FakeAgent:
    def __init__(self, prompt: str) -> None:
        self._prompt = prompt

    def do(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        command: Callable[[str], None] = getattr(self, f"do_{word}")
        command(rest)

    def do_say(self, text: str) -> None:
        print(text, flush=True)

    def do_write(self, rest: str) -> None:
        path, _, text = rest.partition(" ")
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text + "\n")

    def do_append(self, rest: str) -> None:
        path, _, text = rest.partition(" ")
        with Path(path).open("a") as file:
            file.write(text + "\n")

    def do_commit(self, message: str) -> None:
        who = ["-c", "user.name=Fake Agent", "-c", "user.email=fake@agent.example"]
        subprocess.run(["git", "add", "-A"], check=True)
        subprocess.run(["git", *who, "commit", "-q", "-m", message], check=True)

    def do_sh(self, command: str) -> None:
        subprocess.run(["/bin/sh", "-c", command], check=False)

    def do_sleep(self, seconds: str) -> None:
        time.sleep(float(seconds))

    def do_spin(self, seconds: str) -> None:
        until = time.monotonic() + float(seconds)
        while time.monotonic() < until:
            pass

    def do_report(self, rest: str) -> None:
        result, _, summary = rest.partition(" ")
        self._call(["outcome", "--slot", self._slot(), "--result", result, "--summary", summary])

    def do_ask(self, question: str) -> None:
        self._call(["ask", "--slot", self._slot(), question])

    def do_heartbeat(self, _: str) -> None:
        self._call(["heartbeat", "--slot", self._slot()])

    def do_flood(self, amount: str) -> None:
        left = int(amount)
        while left > 0:
            left -= os.write(1, b"x" * min(left, 65536))

    def do_hang(self, _: str) -> None:
        while True:
            signal.pause()

    def do_deaf(self, _: str) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)

    def do_stray(self, seconds: str) -> None:
        subprocess.run(["/bin/sh", "-c", f"setsid sleep {float(seconds)} & exit 0"], check=False)

    def do_die(self, number: str) -> None:
        os.kill(os.getpid(), int(number))

    def do_exit(self, status: str) -> None:
        raise SystemExit(int(status))

    def _call(self, arguments: list[str]) -> None:
        subprocess.run([*self._program(), *arguments], check=False)

    def _words(self) -> list[str]:
        """The words of the report command that the prompt spells."""
        for line in self._prompt.splitlines():
            if " outcome --slot " in line:
                return shlex.split(line)
        raise SystemExit("the prompt spells no report command")

    def _program(self) -> list[str]:
        words = self._words()
        return words[: words.index("outcome")]

    def _slot(self) -> str:
        words = self._words()
        return words[words.index("--slot") + 1]


def main() -> None:
    prompt = read_prompt(sys.argv[1:])
    agent = FakeAgent(prompt)
    for line in script_of(prompt):
        agent.do(line)


if __name__ == "__main__":
    main()
