"""Every key of recall.toml: its reader, the field it fills, and what it means. Loading, `recall config show` and
the file that `recall init` writes all come from this table."""

from __future__ import annotations

from typing import NamedTuple

from recall.config import values
from recall.config.settings import (
    PULL_REQUEST,
    BudgetSettings,
    LeaseSettings,
    LimitSettings,
    MergeSettings,
    RunSettings,
    SandboxSettings,
    SignalSettings,
    StoreSettings,
    UiSettings,
    WorkspaceSettings,
)
from recall.config.values import Reader

SectionSettings = (
    type[LeaseSettings]
    | type[LimitSettings]
    | type[RunSettings]
    | type[WorkspaceSettings]
    | type[MergeSettings]
    | type[SandboxSettings]
    | type[StoreSettings]
    | type[SignalSettings]
    | type[BudgetSettings]
    | type[UiSettings]
)


class Key(NamedTuple):
    """One key. `name` is also the field of the settings class that it fills."""

    name: str
    read: Reader
    meaning: str


class Section(NamedTuple):
    """One `[table]` of recall.toml; it fills the field of Settings that has its name."""

    name: str
    build: SectionSettings
    keys: tuple[Key, ...]


TOP = (
    Key("main", values.some_text, "the branch that verified work lands on"),
    Key("tasks", values.task_lists, "the task lists; a table names their regions"),
    Key("verify", values.verify_command, 'the shell command that must pass before anything lands, or "none"'),
    Key("verify_timeout", values.positive_duration, "how long the verify command may take"),
    Key("setup", values.text, "a shell command run once in a fresh workspace"),
    Key("explore", values.share, "the share of tasks given to another agent than the best one"),
    Key("env_pass", values.texts, "environment variables (globs) passed on to agents and verification"),
    Key("push", values.remote, "the git remote of pull requests, or that main is pushed to after landings"),
)

SECTIONS = (
    Section(
        "lease",
        LeaseSettings,
        (
            Key("ttl", values.positive_duration, "how long a running agent's claim lives without a sign of life"),
            Key("heartbeat", values.positive_duration, "how often a claim is renewed while its agent runs"),
            Key("pull_ttl", values.positive_duration, "how long a claim made by `recall next` lives"),
        ),
    ),
    Section(
        "limits",
        LimitSettings,
        (
            Key("margin", values.duration, "added to the reset time that a provider prints"),
            Key("default", values.positive_duration, "the first pause when no reset time could be read"),
            Key("cap", values.positive_duration, "the longest such pause"),
            Key("failover_after", values.duration, "when another agent may start a limited task afresh"),
        ),
    ),
    Section(
        "run",
        RunSettings,
        (
            Key("timeout", values.positive_duration, "how long one run may take"),
            Key("stall", values.duration, 'how long a run may show no sign of work; "0s" switches this off'),
            Key("attempts", values.count(1), "how often a task is tried before it needs a person"),
            Key("max_interruptions", values.count(1), "how many runs may end through no fault of the work"),
            Key("grace", values.duration, "between asking an agent to stop and killing it"),
            Key("after_report", values.duration, "how long an agent may still live once it has reported"),
            Key("backoff", values.duration, "the pause after a failed attempt, doubled each time"),
            Key("transcript_cap", values.size, "how much of an agent's output is kept"),
        ),
    ),
    Section(
        "workspaces",
        WorkspaceSettings,
        (
            Key("kind", values.one_of("worktree", "clone"), "linked worktrees, or clones that borrow objects"),
            Key("keep", values.kept_paths, "untracked paths that survive between runs"),
            Key("root", values.some_text, "the folder that holds workspaces"),
        ),
    ),
    Section(
        "merge",
        MergeSettings,
        (
            Key("window", values.count(1, 1), "how many candidates are verified at once"),
            Key(
                "land",
                values.one_of("rebase", "squash", PULL_REQUEST),
                "keep a task's commits, join them to one, or offer them to the remote named by push",
            ),
            Key(
                "conflicts",
                values.one_of("auto", "restart", "person"),
                "who settles a conflict: a restart from main, a person, or a person if a screen is open",
            ),
            Key("max_rounds", values.count(1), "how often a result may go round again before a person is asked"),
            Key("max_leftover_bytes", values.size, "the most that a run may bring before a person is asked"),
            Key("max_binary_bytes", values.size, "the largest binary file that it may bring without one"),
            Key(
                "ignore",
                values.ignore_patterns,
                "uncommitted files that are not taken over, as in .gitignore, whose own lines count for more",
            ),
            Key(
                "protected",
                values.repository_paths,
                "files and folders that no run may change, besides the task lists and recall.toml",
            ),
        ),
    ),
    Section(
        "sandbox",
        SandboxSettings,
        (
            Key(
                "level",
                values.one_of("auto", "none", "landlock", "bwrap", "user"),
                "what fences agents and verification in; auto: landlock for clones, none for worktrees",
            ),
            Key("user", values.text, "the Linux user whom agents and verification run as at level user"),
            Key("write", values.texts, "further folders that fenced runs may write"),
            Key("network", values.one_of("on", "off"), "whether fenced set-up and verification have the network"),
        ),
    ),
    Section(
        "store",
        StoreSettings,
        (
            Key("lock_timeout", values.positive_duration, "how long to wait for another process's write"),
            Key("min_free", values.size, "nothing new starts while a disk that is needed has less room than this"),
            Key("state_dir", values.text, "where the state lives instead of the git directory"),
        ),
    ),
    Section(
        "budget",
        BudgetSettings,
        (
            Key("day_usd", values.amount, "US dollars a day for all agents; 0 is no limit"),
            Key("day_tokens", values.count(0), "tokens a day for all agents"),
            Key("task_usd", values.amount, "US dollars for all runs of one task"),
            Key("task_tokens", values.count(0), "tokens for all runs of one task"),
            Key("run_usd", values.amount, "US dollars for one run, told to agents that can keep to it themselves"),
        ),
    ),
    Section(
        "signals",
        SignalSettings,
        (
            Key("on", values.occasions, "what is worth calling you for"),
            Key("bell", values.flag, "ring the bell of the terminal that the dispatcher runs in"),
            Key("desktop", values.flag, "show a notice on the desktop, where notify-send is installed"),
            Key("command", values.text, "a shell command to run; it learns of the signal from RECALL_SIGNAL_*"),
            Key("quiet", values.quiet_hours, "hours in which nobody is called; it is made up for afterwards"),
        ),
    ),
    Section(
        "ui",
        UiSettings,
        (
            Key("theme", values.text, "the theme of the screen, until a person chooses another one there"),
            Key(
                "glyphs",
                values.one_of("auto", "unicode", "ascii"),
                "the signs that are drawn: what the terminal can show, or always the same",
            ),
            Key("keys", values.keys_of_commands, "other keys for commands, by the names in docs/KEYS.md"),
        ),
    ),
)

AGENT = (
    Key("preset", values.some_text, "the built-in description of a known agent"),
    Key("command", values.command, "program and arguments of one unattended run"),
    Key("prompt", values.one_of("stdin", "arg", "file"), "how the prompt goes in"),
    Key("enabled", values.flag, "whether it is given tasks"),
    Key("parallel", values.count(1), "how many tasks it may work on at once"),
    Key("types", values.texts, "the only task types it takes; empty means all"),
    Key("stream", values.stream, "the known agent whose events its output is like, or rules of its own for them"),
    Key("model", values.text, "the model that its command is told to use"),
    Key("account", values.text, "agents of one account share usage limits"),
    Key("resume", values.flag, "whether a limited run goes on by itself after the reset"),
    Key("resume_command", values.command, "program and arguments that continue a session, whose id replaces {id}"),
    Key("env", values.variables, "environment variables to set"),
    Key("env_pass", values.texts, "environment variables (globs) to pass on"),
    Key("env_unset", values.texts, "environment variables to take away"),
    Key("state", values.texts, "folders of its own that it may write when it is fenced"),
    Key("day_usd", values.amount, "US dollars a day for this agent; 0 is no limit"),
    Key("day_tokens", values.count(0), "tokens a day for this agent"),
    Key("patterns", values.patterns, "more regular expressions that tell its limits from other errors"),
)
