"""`recall config`: the settings with their origin, and a person's word for the commands in force."""

from __future__ import annotations

from pathlib import Path

import click

from recall.bootstrap import config_file, settings_at, with_presets
from recall.cli.names import complete_setting
from recall.cli.project import opened_project
from recall.cli.report import ACTOR, say, say_json, warn
from recall.cli.words import columns
from recall.gitops.locate import locate


@click.group()
def config() -> None:
    """Show the settings and their origin; confirm the commands in force."""


@config.command(epilog="Examples: recall config show, recall config show run")
@click.argument("prefix", required=False, default="", shell_complete=complete_setting)
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def show(prefix: str, as_json: bool) -> None:
    """Print every setting, its value, where it comes from and what it means."""
    from recall.config.document import read_document
    from recall.config.explain import explain_settings
    from recall.ui.keymap import keymap_of

    location = locate(Path.cwd())
    settings = with_presets(settings_at(location))
    document = read_document(config_file(location))
    for clash in keymap_of(settings.ui.keys, document).clashes:
        warn(clash)
    rows = [row for row in explain_settings(settings, document) if f"{row[0]}.".startswith(prefix)]
    if as_json:
        say_json([dict(zip(("key", "value", "source", "meaning"), row, strict=True)) for row in rows])
        return
    folder = f"{settings.file.parent}/"
    shown: list[tuple[str, ...]] = [
        (key, _short(value), source.removeprefix(folder), meaning) for key, value, source, meaning in rows
    ]
    for line in columns(shown, indent=""):
        say(line)


def _short(value: str, most: int = 40) -> str:
    return value if len(value) <= most else f"{value[: most - 1]}…"


@config.command(epilog="Example: recall config schema > recall.schema.json")
def schema() -> None:
    """Print a JSON schema of recall.toml, for editors that check TOML by one.

    Kept as recall.schema.json beside it, the line `#:schema ./recall.schema.json` on top of recall.toml lets Taplo
    and Even Better TOML complete and check it, without a network.
    """
    from recall.config.json_schema import json_schema
    from recall.ui.commands import BENCH_COMMANDS, COMMANDS

    say_json(json_schema(command.id for command in (*COMMANDS, *BENCH_COMMANDS)))


@config.command(epilog="Example: recall config trust")
def trust() -> None:
    """Confirm the commands that Recall may run, after you have read them.

    recall.toml is code: when a command in it, an agent's or a task's own verify command changes, nothing new
    starts until a person confirms it here.
    """
    from recall.config.trust import commands_in_force, verifies_in_force
    from recall.engine.trust import confirm_commands

    with opened_project() as project:
        verifies = verifies_in_force(project.store.tasks())
        settings = with_presets(project.settings)
        confirm_commands(settings, project.store, actor=ACTOR, verifies=verifies)
        for name, command in commands_in_force(settings, verifies):
            say(f"{name}: {command}")
    say("\nconfirmed; these may run")
