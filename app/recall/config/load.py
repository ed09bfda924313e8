"""recall.toml -> Settings, or every problem in it at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from recall.config.document import Document, KeyPath, read_document
from recall.config.schema import AGENT, SECTIONS, TOP, Key
from recall.config.settings import PULL_REQUEST, AgentSettings, LeaseSettings, Settings
from recall.config.values import Unfit, is_name
from recall.domain.errors import ConfigError
from recall.domain.text import clean

DEFAULT_MAIN = "main"
_MISSING_VERIFY = (
    'verify is missing: write the command that must pass before work lands, such as verify = "pytest -q", '
    'or verify = "none" if there is none'
)


def load_settings(file: Path, *, main_default: Callable[[], str] = lambda: DEFAULT_MAIN) -> Settings:
    """Read a recall.toml. `main_default` is asked when the file names no main branch. Agents come without what
    their preset adds (`merge_preset.with_preset`). Raises ConfigError with one line for each problem."""
    reading = _Reading(read_document(file))
    settings = reading.settings(main_default)
    if reading.problems:
        raise ConfigError("\n".join(reading.problems))
    return settings


class _Reading:
    """One pass over a document that goes on after a problem."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[str] = []

    def settings(self, main_default: Callable[[], str]) -> Settings:
        table = self.document.table
        sections = {section.name: section for section in SECTIONS}
        top = {name: value for name, value in table.items() if name not in sections and name != "agents"}
        chosen: dict[str, Any] = {"verify": None}
        chosen |= self.fields((), top, TOP, also=(*sections, "agents"))
        if "main" not in chosen:
            chosen["main"] = main_default()
        if "verify" not in table:
            self.problems.append(f"{self.document.file}: {_MISSING_VERIFY}")
        for name, section in sections.items():
            if name in table:
                chosen[name] = section.build(**self.fields((name,), self.table((name,)), section.keys))
        self.check_lease(chosen.get("lease", LeaseSettings()))
        chosen["agents"] = self.agents()
        settings = Settings(file=self.document.file, **chosen)
        self.check_sandbox(settings)
        if settings.offers and not settings.push:
            self.refuse(("merge", "land"), f'is "{PULL_REQUEST}", which needs to know where: write push = "origin"')
        return settings

    def fields(
        self, at: KeyPath, table: Mapping[str, object], keys: Sequence[Key], also: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Read what the table holds of these keys; `also` are names that stand there rightfully too."""
        known = {key.name: key for key in keys}
        found: dict[str, Any] = {}
        for name, value in table.items():
            path = (*at, name)
            if name not in known:
                self.unknown(path, (*known, *also))
                continue
            try:
                found[name] = known[name].read(value)
            except Unfit as unfit:
                self.refuse((*path, *unfit.below), f"is {_shown(_at(value, unfit.below))}, expected {unfit}")
        return found

    def table(self, path: KeyPath) -> Mapping[str, object]:
        value: object = self.document.table
        for name in path:
            value = cast("Mapping[str, object]", value)[name]
        if isinstance(value, dict):
            return cast("dict[str, object]", value)
        self.refuse(path, f"is {_shown(value)}, expected a table: write [{'.'.join(path)}]")
        return {}

    def agents(self) -> tuple[AgentSettings, ...]:
        if "agents" not in self.document.table:
            return ()
        return tuple(self.agent(name) for name in self.table(("agents",)))

    def agent(self, name: str) -> AgentSettings:
        path = ("agents", name)
        table = self.table(path)
        if not is_name(name):
            self.refuse(path, 'is no name for an agent: use letters from a to z, digits, ".", "_" and "-"')
        elif "preset" not in table and "command" not in table:
            self.refuse(path, f'has neither preset nor command: write preset = "{name}" or command = ["PROGRAM"]')
        found: dict[str, Any] = {"command": ()}
        found |= self.fields(path, table, AGENT)
        return AgentSettings(name=name, given=tuple(table), **found)

    def check_lease(self, lease: LeaseSettings) -> None:
        if lease.heartbeat * 2 > lease.ttl:
            self.refuse(("lease", "heartbeat"), "must fit into lease.ttl at least twice, or every claim may run out")

    def check_sandbox(self, settings: Settings) -> None:
        """What a linked worktree's git writes lies in the user's own repository, so no fence can stand between. And
        nothing may be asked of a level that it does not do."""
        level, sandbox = settings.sandbox_level, settings.sandbox
        if level != "none" and settings.workspaces.kind == "worktree":
            self.refuse(
                ("sandbox", "level"),
                f'is {level}, which needs workspaces.kind = "clone": commits in a linked worktree '
                "are written into your repository",
            )
        if level == "none" and sandbox.network == "off":
            self.refuse(
                ("sandbox", "network"),
                'is off, which level "none" cannot do: write workspaces.kind = "clone", and no sandbox.level',
            )
        if (level == "user") != bool(sandbox.user):
            self.refuse(
                ("sandbox", "user"),
                'names whom agents run as at sandbox.level "user": write both, such as user = "recall-agent"',
            )
        if level == "user" and sandbox.write:
            self.refuse(
                ("sandbox", "write"),
                f'is for the other levels: at level "user", give the folders to {clean(sandbox.user)} with chown',
            )

    def unknown(self, path: KeyPath, known: Iterable[str]) -> None:
        import difflib

        near = difflib.get_close_matches(path[-1], list(known), n=1, cutoff=0.5)
        hint = (
            f"did you mean {'.'.join((*path[:-1], near[0]))}?" if near else f"known here: {', '.join(sorted(known))}"
        )
        self.refuse(path, f"is no key of recall.toml; {hint}")

    def refuse(self, path: KeyPath, what: str) -> None:
        self.problems.append(f"{self.document.where(path)}: {clean('.'.join(path))} {what}")


def _at(value: object, path: KeyPath) -> object:
    for name in path:
        value = cast("Mapping[str, object]", value)[name]
    return value


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    words = f'"{value}"' if isinstance(value, str) else repr(value)
    return clean(words if len(words) <= 80 else f"{words[:77]}...")
