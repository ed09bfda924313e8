"""`recall completion`: what a shell needs to complete commands, options and names."""

from __future__ import annotations

import os
from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    ShellComplete,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from recall.cli.report import say_script

_INSTRUCTIONS = {
    "bash": 'eval "$(recall completion bash)"       # in ~/.bashrc',
    "zsh": 'eval "$(recall completion zsh)"        # in ~/.zshrc, after compinit',
    "fish": "recall completion fish | source        # in ~/.config/fish/config.fish",
}


class _BashComplete(BashComplete):
    """Bash ends a word at a colon, which stands in REGION:ID: join such words again, and offer what comes behind
    the colon, since that is what bash replaces."""

    _prefix = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        words, place = split_arg_string(os.environ["COMP_WORDS"]), int(os.environ["COMP_CWORD"])
        joined: list[str] = []
        for word in words[: place + 1]:
            if joined and (word == ":" or joined[-1].endswith(":")):
                joined[-1] += word
            else:
                joined.append(word)
        typed = joined.pop() if len(words) > place or joined[-1].endswith(":") else ""
        self._prefix = typed.rpartition(":")[0]
        return joined[1:], typed

    def format_completion(self, item: CompletionItem[Any]) -> str:
        value = item.value.removeprefix(f"{self._prefix}:") if self._prefix else item.value
        return f"{item.type},{value}"


def complete_in_bash_with_colons() -> None:
    """Have click use what this module knows of bash."""
    add_completion_class(_BashComplete)


@click.command(
    epilog="""\b
Examples:
"""
    + "\n".join(f"  {line}" for line in _INSTRUCTIONS.values())
)
@click.argument("shell", type=click.Choice(list(_INSTRUCTIONS)))
def completion(shell: str) -> None:
    """Print what makes a shell complete commands, tasks and agents."""
    from recall.cli.root import recall
    from recall.cli.tui import recall_tui

    kind = get_completion_class(shell)
    if kind is None:
        raise LookupError(f"click knows no completion for {shell}")
    for command, name in ((recall, "recall"), (recall_tui, "recall-tui")):
        say_script(_script(kind, command, name))


def _script(kind: type[ShellComplete], command: click.Command, name: str) -> str:
    variable = f"_{name.replace('-', '_').upper()}_COMPLETE"
    return kind(command, {}, name, variable).source()
