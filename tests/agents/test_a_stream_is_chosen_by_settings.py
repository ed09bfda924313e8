"""How an agent's events are read: as its preset says, as another one's, or by rules of recall.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.agents.rendered import dialect_for
from recall.config.load import load_settings
from recall.domain.stream.facts import Fact, Said, SessionNamed
from recall.domain.stream.reading import facts_of

RULE = 'events = [{ on = "say", fact = "said", take = { text = "words" } }]'
SAYS = b'{"type":"say","words":"hello"}'
STARTS = b'{"type":"system","subtype":"init","session_id":"s"}'


def read(tmp_path: Path, agent: str, line: bytes) -> tuple[Fact, ...] | None:
    (tmp_path / "recall.toml").write_text(f'verify = "none"\n[agents.mine]\n{agent}\n')
    dialect = dialect_for(load_settings(tmp_path / "recall.toml"), "mine")
    return facts_of(line, dialect) if dialect is not None else None


@pytest.mark.parametrize(
    ("agent", "says", "starts"),
    [
        ('preset = "claude"', None, (SessionNamed("s"),)),
        ('command = ["x"]\nstream = "claude"', None, (SessionNamed("s"),)),
        ('preset = "claude"\nstream = "codex"', None, None),
        (f'command = ["x"]\nstream = {{ {RULE} }}', (Said("hello"),), None),
        (f'command = ["x"]\nstream = {{ like = "claude", {RULE} }}', (Said("hello"),), (SessionNamed("s"),)),
        ('command = ["x"]', None, None),
        ('preset = "aider"', None, None),
    ],
)
def test_it_is_the_one_that_was_asked_for(
    tmp_path: Path, agent: str, says: tuple[Fact, ...] | None, starts: tuple[Fact, ...] | None
) -> None:
    assert read(tmp_path, agent, SAYS) == says
    assert read(tmp_path, agent, STARTS) == starts
