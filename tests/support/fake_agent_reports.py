"""`outcome`, `ask` and `heartbeat` over the real mailbox, for agents of tests that have no repository around them.

It takes the arguments that a prompt spells out and answers with the exit codes of the real command.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from recall.agents.mailbox import Accepted, Declined, MailboxError, find_slot, write_report


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["outcome", "ask", "heartbeat"])
    parser.add_argument("question", nargs="?", default="")
    parser.add_argument("--slot", type=Path)
    parser.add_argument("--root", type=Path, action="append", default=[])
    parser.add_argument("--agent", default="")
    parser.add_argument("--task", default="")
    parser.add_argument("--result", default="success")
    parser.add_argument("--summary", default="")
    said = parser.parse_args()
    try:
        slot = find_slot(
            given=said.slot, start=Path.cwd(), roots=said.root, run_id=os.environ.get("RECALL_RUN_ID", ""),
            agent=said.agent, task=said.task,
        )  # fmt: skip
    except MailboxError as trouble:
        print(trouble, file=sys.stderr)
        return 1
    result: str = {"ask": "question", "heartbeat": "heartbeat", "outcome": said.result}[said.what]
    answer = write_report(slot, result, summary=said.summary, question=said.question, task=said.task)
    match answer:
        case Accepted():
            print("accepted")
            return 0
        case Declined(reason):
            print(f"refused: {reason}")
            return 1
        case _:
            print("stored, not yet judged")
            return 0


if __name__ == "__main__":
    sys.exit(main())
