"""Every setting, as frozen values. All durations are seconds. Reading recall.toml is `config.load`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from recall.domain.agent import AgentSpec
from recall.domain.frozen import frozen
from recall.domain.usage import LimitPatterns


class TaskList(NamedTuple):
    """One watched task file, relative to the checkout, and the region its tasks belong to."""

    region: str
    path: str


class LeaseSettings(NamedTuple):
    ttl: float = 300.0
    heartbeat: float = 30.0
    pull_ttl: float = 3600.0


class LimitSettings(NamedTuple):
    """`margin` is added to a printed reset; `default` is the first pause when none could be read, doubled up
    to `cap`; after `failover_after` another agent may start a limited task afresh."""

    margin: float = 60.0
    default: float = 1800.0
    cap: float = 4 * 3600.0
    failover_after: float = 3600.0


class RunSettings(NamedTuple):
    """`after_report` is how long an agent may still live once it has reported; `backoff` is the first pause
    after a failed attempt, doubled each time."""

    timeout: float = 7200.0
    stall: float = 1200.0
    attempts: int = 3
    max_interruptions: int = 5
    grace: float = 10.0
    after_report: float = 60.0
    backoff: float = 30.0
    transcript_cap: int = 32 * 1024 * 1024


class WorkspaceSettings(NamedTuple):
    kind: str = "worktree"
    keep: tuple[str, ...] = ()
    root: str = ".recall"


#: What tools, editors and systems leave in a work tree, as lines of a .gitignore file. `build` and `dist` are not
#: among them: too many projects keep sources there.
_MADE_BY_TOOLS = (
    "node_modules/", "bower_components/", ".npm/", ".yarn/cache/", ".pnpm-store/", ".parcel-cache/", ".turbo/",
    ".next/", ".nuxt/", ".svelte-kit/", ".venv/", "venv/", "__pycache__/", "*.py[cod]", "*.egg-info/", ".eggs/",
    ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/", ".tox/", ".nox/", ".ipynb_checkpoints/",
    ".coverage", ".coverage.*", "htmlcov/", ".nyc_output/", "target/", ".gradle/", "*.class", ".terraform/",
    ".DS_Store", "._*", "Thumbs.db", "desktop.ini", "*.sw[a-p]", "*~", ".#*", "[#]*#", ".nfs*", "*.orig", "*.rej",
)  # fmt: skip


#: The value of `merge.land` by which nothing is landed but offered to the remote.
PULL_REQUEST = "pull-request"


class MergeSettings(NamedTuple):
    """`conflicts` says who settles one: `restart` starts the task over from main, `person` waits for one, `auto`
    waits only where a screen is open. `ignore` are the files that are not taken over when a run left them
    uncommitted. `protected` are paths, from the repository's root, that no run may change."""

    window: int = 1
    land: str = "rebase"
    conflicts: str = "auto"
    max_rounds: int = 5
    max_leftover_bytes: int = 10 * 1024 * 1024
    max_binary_bytes: int = 1024 * 1024
    ignore: tuple[str, ...] = _MADE_BY_TOOLS
    protected: tuple[str, ...] = (".github",)


class SandboxSettings(NamedTuple):
    """`level` `auto` fences clones and leaves linked worktrees open. `user` is whom agents run as at level `user`.
    `network` is for set-up and verification."""

    level: str = "auto"
    user: str = ""
    write: tuple[str, ...] = ()
    network: str = "on"


class StoreSettings(NamedTuple):
    lock_timeout: float = 10.0
    min_free: int = 64 * 1024 * 1024
    state_dir: str = ""


class BudgetSettings(NamedTuple):
    """US dollars and tokens; 0 is no limit. `run_usd` is told to agents that can keep to it themselves."""

    day_usd: float = 0.0
    day_tokens: int = 0
    task_usd: float = 0.0
    task_tokens: int = 0
    run_usd: float = 0.0


class SignalSettings(NamedTuple):
    """`on` names the occasions (`domain.signals.SignalKind`); `command` is a shell command, `quiet` hours such as
    `22:00-07:00`."""

    on: tuple[str, ...] = ("needs-you", "all-done", "limit", "main-red")
    bell: bool = True
    desktop: bool = True
    command: str = ""
    quiet: str = ""


class UiSettings(NamedTuple):
    """`theme` "" is Recall's own; `keys` holds the keys of the commands that were given others."""

    theme: str = ""
    glyphs: str = "auto"
    keys: Mapping[str, tuple[str, ...]] = MappingProxyType({})


@frozen
class AgentSettings:
    """One agent. `command` is the argv of an unattended run; `prompt` says how the prompt goes in (`stdin`,
    `arg`: appended as the last argument, `file`: its path is appended). `patterns` are added to the defaults.
    `stream` names the preset whose events its output is like, or holds rules as `domain.stream.dialect` reads them.
    `resume` allows a limited run to go
    on by itself after the reset, `resume_command` (with `{id}`) continues a session; empty: that cannot be done.
    `state` are folders of its own, which it may write when it is fenced. `given` names the keys that the user wrote;
    what a preset says counts for the others."""

    name: str
    command: tuple[str, ...]
    prompt: str = "stdin"
    preset: str = ""
    enabled: bool = True
    parallel: int = 1
    types: tuple[str, ...] = ()
    stream: str | Mapping[str, object] = ""
    model: str = ""
    account: str = ""
    resume: bool = True
    resume_command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    env_pass: tuple[str, ...] = ()
    env_unset: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    day_usd: float = 0.0
    day_tokens: int = 0
    patterns: LimitPatterns = LimitPatterns()
    given: tuple[str, ...] = ()


@frozen
class Settings:
    """`file` is the recall.toml that was read, `verify` a shell command or None for a spelled-out "none".
    `explore` is the share of choices that go to another agent than the best. `push` names the remote that main is
    pushed to after landings, or that pull requests are opened at; "" for none."""

    file: Path
    main: str
    verify: str | None
    tasks: tuple[TaskList, ...] = (TaskList("main", "TASKS.md"),)
    verify_timeout: float = 1800.0
    setup: str = ""
    explore: float = 0.1
    env_pass: tuple[str, ...] = ()
    push: str = ""
    lease: LeaseSettings = LeaseSettings()
    limits: LimitSettings = LimitSettings()
    run: RunSettings = RunSettings()
    workspaces: WorkspaceSettings = WorkspaceSettings()
    merge: MergeSettings = MergeSettings()
    sandbox: SandboxSettings = SandboxSettings()
    store: StoreSettings = StoreSettings()
    budget: BudgetSettings = BudgetSettings()
    signals: SignalSettings = SignalSettings()
    ui: UiSettings = UiSettings()
    agents: tuple[AgentSettings, ...] = ()

    @property
    def agent_specs(self) -> tuple[AgentSpec, ...]:
        """What the scheduler needs to know of each agent."""
        return tuple(AgentSpec(one.name, one.enabled, one.parallel, one.types, one.account) for one in self.agents)

    @property
    def offers(self) -> bool:
        """Whether verified work is offered as a pull request instead of being landed."""
        return self.merge.land == PULL_REQUEST

    @property
    def sandbox_level(self) -> str:
        """The level in force: `none`, `landlock`, `bwrap` or `user`."""
        if self.sandbox.level != "auto":
            return self.sandbox.level
        return "landlock" if self.workspaces.kind == "clone" else "none"

    def agent(self, name: str) -> AgentSettings | None:
        return next((agent for agent in self.agents if agent.name == name), None)
