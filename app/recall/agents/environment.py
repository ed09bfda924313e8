"""What an agent, and a verification, sees of the environment: an allow-list, so that nothing is passed by chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

_PASSED = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TZ", "TMPDIR", "TERM", "XDG_*",
    "*_PROXY", "*_proxy", "SSL_CERT_*", "NODE_EXTRA_CA_CERTS",
)  # fmt: skip

#: What git takes from its caller to find another repository or configuration (`git rev-parse
#: --local-env-vars`). One of these would send an agent's git into the user's checkout.
GIT_LOCAL = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
        "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
        "GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX",
        "GIT_INTERNAL_SUPER_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR",
    }
)  # fmt: skip

#: The marks by which an agent knows that it runs inside another one; some refuse to start then.
OUTER_AGENT = ("CLAUDECODE", "CLAUDE_CODE_*", "CODEX_*", "GEMINI_CLI", "QWEN_CODE_*")


def agent_environment(
    parent: Mapping[str, str],
    *,
    cwd: Path,
    passed: Iterable[str] = (),
    extra: Mapping[str, str] | None = None,
    unset: Iterable[str] = (),
) -> dict[str, str]:
    """Give the whole environment of a process that starts in `cwd`.

    `passed` and `unset` are globs over variable names. A name that `passed` spells out without a wildcard is
    passed even when it looks like an outer agent's mark; git's local variables never are. `extra` wins over
    everything but `PWD`, which some agents believe before the real working directory.
    """
    wanted = tuple(passed)
    spelled = {name for name in wanted if not _is_glob(name)}
    removed = tuple(unset)
    env = {
        name: value
        for name, value in parent.items()
        if _matches(name, (*_PASSED, *wanted))
        and name not in GIT_LOCAL
        and (name in spelled or not _matches(name, OUTER_AGENT))
        and not _matches(name, removed)
    }
    env.update(extra or {})
    env["PWD"] = str(cwd)
    return env


def _is_glob(name: str) -> bool:
    return any(character in name for character in "*?[")


def _matches(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)
