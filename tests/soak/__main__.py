"""`python -m tests.soak MINUTES [SEED]`: prints the figures; exit code 1 when something was lost or done twice."""

from __future__ import annotations

import os
import random
import sys
import tempfile
from pathlib import Path

from tests.soak.night import spend_a_night
from tests.support.hermetic_git import isolate, make_home


def main() -> int:
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1_000_000)
    place = Path(tempfile.mkdtemp(prefix="recall-soak-"))
    isolate(os.environ, make_home(place / "home"))
    figures = spend_a_night(place, minutes, seed)
    print("\n".join(figures.lines()))
    print(f"  everything is kept in {place}")
    return 0 if figures.clean else 1


if __name__ == "__main__":
    sys.exit(main())
