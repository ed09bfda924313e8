"""Each preset loads, starts with a prompt in the right place, and reads its agent's own words."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from importlib import resources

import pytest

from recall.agents.presets import Preset, load_preset, preset_names
from recall.domain.errors import ConfigError
from recall.domain.limits import read_limits
from recall.domain.usage import LimitClass

NOW = 1_774_000_000.0

SAMPLES = [
    ("claude", "You've hit your session limit · resets 3:30am (America/New_York)", LimitClass.LIMIT),
    ("claude", "You’ve hit your weekly limit · resets Mon 12:00am", LimitClass.LIMIT),
    ("claude", "Credit balance is too low", LimitClass.CREDIT),
    (
        "claude",
        "You've hit your org's monthly spend limit · visit https://example.invalid to raise it",
        LimitClass.CREDIT,
    ),
    ("claude", "API Error: Server is temporarily limiting requests (not your usage limit)", LimitClass.TRANSIENT),
    ("claude", "API Error: Repeated 529 Overloaded errors. The API is at capacity", LimitClass.TRANSIENT),
    ("claude", "Not logged in · Please run /login", LimitClass.AUTH),
    ("claude", "spend limit reached (daily; resets 2026-08-09 00:00 UTC)", LimitClass.CREDIT),
    ("codex", "You've hit your usage limit. To get more access now, try again at 12:16 PM.", LimitClass.LIMIT),
    ("codex", "You've hit your usage limit. Upgrade to Plus to continue, or try again in 3 hours.", LimitClass.LIMIT),
    (
        "codex",
        "You've hit your usage limit for o9. Switch to another model now, or try again at 3:51 PM.",
        LimitClass.LIMIT,
    ),
    ("codex", "Your workspace is out of credits. Add credits to continue.", LimitClass.CREDIT),
    ("codex", "Selected model is at capacity. Please try a different model.", LimitClass.TRANSIENT),
    ("codex", "unexpected status 401 Unauthorized", LimitClass.AUTH),
    (
        "gemini",
        "You have exhausted your capacity on this model. Your quota will reset after 3h25m26s.",
        LimitClass.LIMIT,
    ),
    ("gemini", "You have exhausted your daily quota on this model.", LimitClass.LIMIT),
    ("gemini", "No capacity available for model gemini-3-flash-preview on the server", LimitClass.TRANSIENT),
    ("grok", "Rate limited (429) — Plan limit reached, try again later", LimitClass.LIMIT),
    ("grok", "subscription:free-usage-exhausted: You have used all your free usage", LimitClass.LIMIT),
    ("grok", "out of credits or over your spending limit. Add credits and retry.", LimitClass.CREDIT),
    (
        "copilot",
        "You've reached your weekly rate limit. Please wait for it to reset or switch model.",
        LimitClass.LIMIT,
    ),
    ("copilot", "402 You have no quota", LimitClass.CREDIT),
    ("opencode", "Monthly usage limit reached", LimitClass.LIMIT),
    ("opencode", "Provider is overloaded", LimitClass.TRANSIENT),
    ("aider", "The API provider has rate limited you. Try again later or check your quotas.", LimitClass.LIMIT),
    ("aider", "The API provider's servers are down or overloaded.", LimitClass.TRANSIENT),
    ("aider", "The API provider is not able to authenticate you. Check your API key.", LimitClass.AUTH),
    ("cursor-agent", "Error: You've hit your usage limit", LimitClass.CREDIT),
    ("qwen", "Your quota has been exhausted. The quota will reset at 2026-04-01 00:00:00", LimitClass.LIMIT),
]


def test_all_presets_are_found() -> None:
    assert {"claude", "codex", "gemini", "grok", "copilot"} == {
        n for n in preset_names() if not load_preset(n).partial
    }
    assert {"aider", "amp", "cursor-agent", "grok-community", "opencode", "qwen"} < set(preset_names())


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_holds_only_what_is_read(name: str) -> None:
    table = tomllib.loads((resources.files("recall.agents.presets") / f"{name}.toml").read_text())
    assert set(table) <= {one.name for one in fields(Preset)}
    preset = load_preset(name)
    assert preset.prompt in {"stdin", "arg", "file"}
    assert preset.output in {"stream-json", "final-json", "text"}
    patterns = preset.patterns
    for pattern in (*patterns.limit, *patterns.credit, *patterns.auth, *patterns.transient):
        re.compile(pattern)


def test_an_unknown_preset_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match='no preset "claud"; there are aider, amp, claude'):
        load_preset("claud")


def test_the_prompt_goes_behind_everything_else() -> None:
    assert load_preset("copilot").argv(model="m")[-3:] == ("--model", "m", "-p")
    assert load_preset("grok").argv(session="s")[-3:] == ("--resume", "s", "--prompt-file")
    assert load_preset("codex").argv(model="m", session="s")[-5:] == ("-m", "m", "resume", "s", "-")
    assert "{" not in "".join(load_preset("claude").argv())


def test_servers_that_reach_further_stay_off() -> None:
    assert "--disable-builtin-mcps" in load_preset("copilot").command
    assert "--strict-mcp-config" in load_preset("claude").command


@pytest.mark.parametrize(("agent", "line", "kind"), SAMPLES)
def test_an_agents_own_words_are_understood(agent: str, line: str, kind: LimitClass) -> None:
    patterns = load_preset(agent).patterns
    found = read_limits(line, exit_code=1, reported=False, now=NOW, tz="UTC", patterns=patterns)
    assert found.kind is kind, found
