"""Every shown command that a test does not run as it stands, each with the reason. Nothing else is excused.

A command is named as a page shows it, without the remark behind it. A mark that fits no command is an error.
"""

from __future__ import annotations

_INSTALLS = "fetches packages over the network; an installed wheel is tried by tests/architecture"
_ROOT = "makes an account on the machine, as root"
_PREPARED = "needs more than a reader can type; tests/cli/test_resolve_settles_conflicts.py does it"
_STAYS = "serves until it is stopped; tests/serve opens it in a browser"

#: Not run at all.
NOT_RUN: dict[str, str] = {
    "make run": "sets up a virtual environment over the network; tests/e2e runs the rehearsal",
    "make test": "is the suite that this is part of",
    "pip install .": _INSTALLS,
    "pip install 'recall-tui[serve]'": _INSTALLS,
    "pip uninstall recall-tui": "would take away the program under test",
    "recall serve": _STAYS,
    "recall serve --no-open --port 8765": _STAYS,
    "ssh -L 8765:127.0.0.1:8765 that-machine": "needs a second machine",
    "recall resolve T-7 --continue": _PREPARED,
    "recall resolve T-7 --remembered": _PREPARED,
    "useradd --create-home agents": _ROOT,
    "useradd --create-home recall-agent": _ROOT,
    "git clone /home/you/project /home/agents/project": _ROOT,
    "tmux new-session -d -s night 'systemd-inhibit recall-tui'": "lives on, and needs a session of systemd",
    "chown -R agents: /home/agents/project": _ROOT,
}

#: Run as something else: the same words where they end, and need no terminal and no place outside the test.
RUN_AS: dict[str, tuple[str, str]] = {
    "recall-tui": ("recall-tui --no-ui --until-done", "opens a screen, which tests/ui drives"),
    "recall-tui --no-ui": ("recall-tui --no-ui --until-done", "works until Ctrl+C"),
    "recall-tui --no-ui > night.log": ("recall-tui --no-ui --until-done > night.log", "works until Ctrl+C"),
    "mv .git/recall /var/lib/recall/my-project": (
        'mv .git/recall "$HOME/my-project"',
        "a place that only root may write",
    ),
}

#: What a reader types when a command asks.
ANSWERS: dict[str, str] = {
    "recall workspaces drop 3": "y\n",
    "recall init": "\n\n\n",
}
