"""How thoroughly histories are searched: `ci` in every run, `nightly` with --hypothesis-profile=nightly."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci",
    max_examples=40,
    stateful_step_count=30,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
settings.register_profile(
    "nightly", settings.get_profile("ci"), max_examples=2000, stateful_step_count=80, derandomize=False
)
