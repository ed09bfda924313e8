"""The first recall.toml and task list of a repository: what was found there, what is decided, and the writing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from recall.config.detect import VerifyGuess, find_agents, guess_verify
from recall.config.load import load_settings
from recall.config.main_branch import guess_main
from recall.config.template import EXAMPLE_TASKS, template_text
from recall.domain.errors import ConfigError

CONFIG_NAME = "recall.toml"
TASKS_NAME = "TASKS.md"


@dataclass(frozen=True, slots=True)
class Found:
    """`agents` are the presets whose program is on PATH, `known` all presets."""

    main: str
    verify: VerifyGuess | None
    agents: tuple[str, ...]
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FirstFiles:
    """What a person decided. `verify` None: work lands without any check. `tasks` is relative to the checkout."""

    main: str
    verify: str | None
    agents: tuple[str, ...]
    tasks: str = TASKS_NAME

    @property
    def text(self) -> str:
        """The recall.toml that says so."""
        return template_text(self.main, self.verify, self.agents, (self.tasks,))


def look_around(common_dir: Path, checkout: Path, programs: Mapping[str, str]) -> Found:
    """See what can be guessed of a checkout and this machine; nothing is run. `programs` are those that the presets
    start, by preset."""
    agents = tuple(find_agents(programs))
    return Found(guess_main(common_dir), guess_verify(checkout), agents, tuple(programs))


def write_first_files(checkout: Path, files: FirstFiles) -> list[str]:
    """Write recall.toml, and an example where there is no task list yet; says what was done. Nothing that is there
    is overwritten, and a recall.toml that cannot be used is taken back. Raises ConfigError."""
    config, tasks = checkout / CONFIG_NAME, checkout / files.tasks
    try:
        with config.open("x", encoding="utf-8") as file:
            file.write(files.text)
    except FileExistsError as there:
        raise ConfigError(f"{CONFIG_NAME} is there already; edit it, or move it away first") from there
    try:
        load_settings(config)
    except ConfigError:
        config.unlink()
        raise
    return [f"wrote {CONFIG_NAME}", write_example(tasks, files.tasks)]


def write_example(file: Path, name: str) -> str:
    """Write two example tasks where there is no list; says what was done."""
    if file.exists():
        return f"{name} is there already and was left as it is"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(EXAMPLE_TASKS, encoding="utf-8")
    return f"wrote {name} with two example tasks"
