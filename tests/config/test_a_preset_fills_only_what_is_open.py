"""What the user wrote about an agent beats its preset; variables and patterns add up."""

from __future__ import annotations

from recall.config.merge_preset import PresetFields, with_preset
from recall.config.settings import AgentSettings
from recall.domain.usage import LimitPatterns

PRESET = PresetFields(
    command=("claude", "-p"),
    prompt="arg",
    env={"A": "preset", "B": "preset"},
    env_unset=("OUTER",),
    patterns=LimitPatterns(limit=("usage limit",)),
)


def test_an_agent_with_nothing_but_a_preset() -> None:
    agent = with_preset(AgentSettings("claude", (), preset="claude", given=("preset",)), PRESET)
    assert (agent.command, agent.prompt, agent.env_unset) == (("claude", "-p"), "arg", ("OUTER",))


def test_the_user_wins() -> None:
    mine = AgentSettings("claude", ("./mine",), prompt="stdin", given=("command", "prompt"))
    agent = with_preset(mine, PRESET)
    assert (agent.command, agent.prompt) == (("./mine",), "stdin")


def test_a_prompt_equal_to_the_default_still_beats_the_preset_when_it_was_written() -> None:
    assert with_preset(AgentSettings("a", (), prompt="stdin", given=("prompt",)), PRESET).prompt == "stdin"
    assert with_preset(AgentSettings("a", (), prompt="stdin"), PRESET).prompt == "arg"


def test_variables_and_patterns_add_up() -> None:
    mine = AgentSettings("a", (), env={"A": "mine"}, patterns=LimitPatterns(limit=("slow", "usage limit")))
    agent = with_preset(mine, PRESET)
    assert dict(agent.env) == {"A": "mine", "B": "preset"}
    assert agent.patterns.limit == ("usage limit", "slow")
