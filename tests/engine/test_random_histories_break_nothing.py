"""Whatever happens, in whatever order: one holder a task, nothing lands unverified, unbidden or twice."""

from __future__ import annotations

from hypothesis import settings

from tests.engine.histories import Histories

_CHOSEN = settings.get_current_profile_name()


class TestHistories(Histories.TestCase):
    settings = settings.get_profile("nightly" if _CHOSEN == "nightly" else "ci")

    def runTest(self) -> None:
        before = Histories.steps
        super().runTest()
        print(f"{Histories.steps - before} rule steps")
