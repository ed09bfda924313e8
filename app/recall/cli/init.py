"""`recall init`: set a repository up."""

from __future__ import annotations

from pathlib import Path

import click

from recall.bootstrap import preset_programs
from recall.cli.report import Refusal, ask, say
from recall.config.first_files import CONFIG_NAME, FirstFiles, Found, look_around, write_first_files
from recall.gitops.locate import Location, locate


@click.command(epilog="Examples: recall init, recall init --yes")
@click.option("--yes", is_flag=True, help="Take every guess without asking.")
def init(yes: bool) -> None:
    """Set this repository up: write recall.toml and a first task list.

    The main branch, the verify command and the agents on this machine are guessed and asked for. Nothing that is
    there already is overwritten, and nothing is committed.
    """
    location = locate(Path.cwd())
    checkout = _checkout(location)
    if (checkout / CONFIG_NAME).exists():
        raise Refusal(
            f"{checkout / CONFIG_NAME} is there already; edit it, or move it away and run `recall init` again"
        )
    found = look_around(location.common_dir, checkout, preset_programs())
    files = FirstFiles(_main(found, yes), _verify(found, yes), _agents(found, yes))
    for line in write_first_files(checkout, files):
        say(line)
    _say_next(files)


def _checkout(location: Location) -> Path:
    if location.checkout is None:
        raise Refusal(f"{location.git_dir} is a bare repository; run `recall init` in a checkout of it")
    return location.checkout


def _main(found: Found, yes: bool) -> str:
    return found.main if yes else ask("Branch that verified work lands on", found.main)


def _verify(found: Found, yes: bool) -> str | None:
    if found.verify is not None:
        say(f"verify: {found.verify.command} ({found.verify.because})")
    command = found.verify.command if found.verify is not None else "none"
    answer = command if yes else ask("Command that must pass before anything lands, or none", command)
    return None if answer.strip().lower() == "none" else answer


def _agents(found: Found, yes: bool) -> tuple[str, ...]:
    if yes:
        return found.agents
    guess = ",".join(found.agents) or "none"
    answer = ask(f"Agents, separated by commas ({', '.join(found.known)}, or none)", guess)
    names = tuple(name.strip() for name in answer.split(",") if name.strip() and name.strip() != "none")
    for name in names:
        if name not in found.known:
            raise Refusal(f"{name} is no known agent; an agent of your own is added to recall.toml by hand")
    return names


def _say_next(files: FirstFiles) -> None:
    if files.verify is None:
        say('verify is "none": work will land without any check. Write a command into recall.toml')
    if not files.agents:
        say("no agent yet: add one under [agents.NAME] in recall.toml")
    say("\nNext: read both files, write your tasks, commit both, then `recall import` and `recall-tui`.")
