"""The process of one visit: the screen as a viewer, on pipes to the server. `python -m recall.serve.viewer`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

from recall.domain.errors import RecallError
from recall.domain.text import clean
from recall.ui.app import run_app
from recall.ui.session import Session, open_session

#: What the server waits for before it reads packets.
_BEGIN = b"__GANGLION__\n"


def main() -> NoReturn:
    """Show the repository that the current folder is in. Nothing is dispatched, unless the person takes that over."""
    try:
        with open_session(Path.cwd()) as session:
            code = _show(session)
    except RecallError as trouble:
        _tell(str(trouble))
        code = 1
    sys.exit(code)


def _show(session: Session) -> int:
    with (session.state / "ui.log").open("ab") as log:  # standard error belongs to nobody here
        os.dup2(log.fileno(), sys.stderr.fileno())
    return run_app(session, host=False)


def _tell(words: str) -> None:
    """Show words in the tab, where there is no screen to show them on."""
    text = "\r\n".join(clean(words).split("\n")).encode()
    os.write(sys.stdout.fileno(), b"%sD%s%s" % (_BEGIN, len(text).to_bytes(4, "big"), text))


if __name__ == "__main__":
    main()
