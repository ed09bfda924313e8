"""Land or recover once, as a process of its own that a test can kill: land or recover, git dir, integration,
old, new."""

from __future__ import annotations

import sys
from pathlib import Path

from recall.gitops.landing import Lander
from recall.system import SystemRng


def main() -> None:
    what, common, integration, old, new = sys.argv[1:]
    lander = Lander(Path(common), Path(integration), "main", SystemRng(), patience=10.0)
    outcome = lander.land(7, old, new, "recall") if what == "land" else lander.recover(7, old, new)
    print(type(outcome).__name__)
