"""What an act is."""

from __future__ import annotations

from collections.abc import Callable

from recall.ui.context import Context
from recall.ui.front import Front

OwnAct = Callable[[Front, Context], None]
