"""`recall init`: set a repository up."""

from __future__ import annotations

from pathlib import Path

import click

from recall.cli.report import Refusal, ask, say
from recall.config.detect import find_agents, guess_verify
from recall.config.load import load_settings
from recall.config.main_branch import guess_main
from recall.config.template import EXAMPLE_TASKS, template_text
from recall.gitops.locate import Location, locate

CONFIG_NAME = "recall.toml"
TASKS_NAME = "TASKS.md"


@click.command(epilog="Examples: recall init, recall init --yes")
@click.option("--yes", is_flag=True, help="Take every guess without asking.")
def init(yes: bool) -> None:
    """Set this repository up: write recall.toml and a first task list.

    The main branch, the verify command and the agents on this machine are guessed and asked for. Nothing that is
    there already is overwritten, and nothing is committed.
    """
    location = locate(Path.cwd())
    checkout = _checkout(location)
    file = checkout / CONFIG_NAME
    if file.exists():
        raise Refusal(f"{file} is there already; edit it, or move it away and run `recall init` again")
    main = _main(location, yes)
    verify = _verify(checkout, yes)
    agents = _agents(yes)
    file.write_text(template_text(main, verify, agents), encoding="utf-8")
    load_settings(file)
    say(f"wrote {file.name}")
    _write_tasks(checkout / TASKS_NAME)
    _say_next(verify, agents)


def _checkout(location: Location) -> Path:
    if location.checkout is None:
        raise Refusal(f"{location.git_dir} is a bare repository; run `recall init` in a checkout of it")
    return location.checkout


def _main(location: Location, yes: bool) -> str:
    guess = guess_main(location.common_dir)
    return guess if yes else ask("Branch that verified work lands on", guess)


def _verify(checkout: Path, yes: bool) -> str | None:
    guess = guess_verify(checkout)
    if guess is not None:
        say(f"verify: {guess.command} ({guess.because})")
    command = guess.command if guess is not None else "none"
    answer = command if yes else ask("Command that must pass before anything lands, or none", command)
    return None if answer.strip().lower() == "none" else answer


def _agents(yes: bool) -> list[str]:
    from recall.agents.presets import load_preset, preset_names

    presets = preset_names()
    found = find_agents({name: load_preset(name).command[0] for name in presets})
    if yes:
        return found
    answer = ask(f"Agents, separated by commas ({', '.join(presets)}, or none)", ",".join(found) or "none")
    names = [name.strip() for name in answer.split(",") if name.strip() and name.strip() != "none"]
    for name in names:
        if name not in presets:
            raise Refusal(f"{name} is no known agent; an agent of your own is added to recall.toml by hand")
    return names


def _write_tasks(file: Path) -> None:
    if file.exists():
        say(f"{file.name} is there already and was left as it is")
        return
    file.write_text(EXAMPLE_TASKS, encoding="utf-8")
    say(f"wrote {file.name} with two example tasks")


def _say_next(verify: str | None, agents: list[str]) -> None:
    if verify is None:
        say('verify is "none": work will land without any check. Write a command into recall.toml')
    if not agents:
        say("no agent yet: add one under [agents.NAME] in recall.toml")
    say("\nNext: read both files, write your tasks, commit both, then `recall import` and `recall-tui`.")
