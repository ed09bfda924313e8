"""Which folders a fenced run may write, what a fence needs of the machine, and the proof that it holds here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from recall.agents.fence import SCOPED_SINCE, landlock_abi
from recall.config.settings import Settings
from recall.domain.errors import ConfigError, EnvironmentFailure
from recall.domain.frozen import frozen
from recall.domain.launch import Fence
from recall.domain.text import clean_line, clip
from recall.whole_files import replace_file

LEVELS = ("landlock", "bwrap")
FENCE_FILE = "fence.json"
SCRATCH = "scratch"
#: Where package managers keep what they fetched. Programs that the user runs must not lie in any of these.
CACHES = (
    "~/.cache/pip", "~/.cache/uv", "~/.npm/_cacache", "~/.npm/_logs", "~/.cache/yarn", "~/.cache/pnpm",
    "~/.local/share/pnpm/store", "~/.cargo/registry", "~/.cargo/git", "~/.cache/go-build", "~/go/pkg/mod",
    "~/.gradle/caches", "~/.m2/repository",
)  # fmt: skip
_PROGRAM = Path(__file__).with_name("fence.py")
_PATIENCE = 20.0
_PROBE = """\
echo inside > "$1/inside" || exit 11
(echo outside > "$2/outside") 2>/dev/null && exit 12
(sh -c 'echo outside > "$1/outside"' sh "$2") 2>/dev/null && exit 13
mv "$1/inside" "$2/moved" 2>/dev/null && exit 14
kill -0 "$3" 2>/dev/null && exit 15
exit 0
"""
_HOLES = {
    11: "its own folder cannot be written",
    12: "a file outside can be written",
    13: "what it starts can write outside",
    14: "a file can be moved outside",
    15: "processes outside can be signalled",
}


@frozen
class Proof:
    """Whether a level holds on this machine; `what` says what was seen or what is missing."""

    level: str
    holds: bool
    what: str


def fence_for(
    settings: Settings, cwd: Path, scratch: Path, environ: Mapping[str, str], *, own: Iterable[str] = (), agent: bool
) -> Fence | None:
    """Give the fence of a run in `cwd`, or None when runs are not fenced. `own` are the agent's own folders.
    `sandbox.network` is for set-up and verification: an agent cannot work without its provider."""
    sandbox = settings.sandbox
    level = settings.sandbox_level
    if level == "none":
        return None
    listed = (*CACHES, *sandbox.write, *own)
    write = (cwd, *(expanded(path, environ) for path in listed))
    return Fence(level, write, scratch, network=agent or sandbox.network == "on", program=_bubblewrap(level))


def expanded(path: str, environ: Mapping[str, str]) -> Path:
    """Put the home folder of the environment in the place of `~`."""
    home = environ.get("HOME", "")
    return Path(home + path[1:] if home and (path == "~" or path.startswith("~/")) else path)


def check_fence(settings: Settings, keep_out: Iterable[Path], environ: Mapping[str, str]) -> None:
    """Raise ConfigError when the chosen level does not hold here, or when what may be written holds, or lies in,
    one of the folders that no run may write."""
    level = settings.sandbox_level
    if level == "none":
        return
    proof = prove(level)
    if not proof.holds:
        raise ConfigError(
            f"sandbox.level {level} does not hold on this machine: {proof.what}; `recall doctor` tries every level, "
            'and sandbox.level = "none" in recall.toml goes without'
        )
    closed = [folder.resolve() for folder in keep_out]
    named = [*settings.sandbox.write, *(path for agent in settings.agents for path in agent.state)]
    for path in named:
        open_one = expanded(path, environ).resolve()
        for folder in closed:
            if open_one.is_relative_to(folder) or folder.is_relative_to(open_one):
                raise ConfigError(
                    f"{path} may be written by fenced runs, but holds or lies in {folder}, which decides what lands; "
                    "name a narrower folder in recall.toml"
                )


def fence_argv(fence: Fence, folder: Path) -> list[str]:
    """Write what the fence needs into the run folder; give the argv that stands before the command."""
    file = folder / FENCE_FILE
    wanted = {
        "level": fence.level,
        "write": [str(path.absolute()) for path in (*fence.write, fence.scratch)],
        "network": fence.network,
        "bwrap": fence.program,
    }
    replace_file(file, json.dumps(wanted).encode(), durable=False)
    return [sys.executable, "-I", "-S", str(_PROGRAM), str(file.absolute())]


def empty_scratch(scratch: Path) -> None:
    """Give a run an empty folder for temporary files. What an earlier one locked away is moved aside."""
    if scratch.is_symlink() or scratch.is_file():
        scratch.unlink()
    shutil.rmtree(scratch, ignore_errors=True)
    if scratch.exists():
        scratch.rename(Path(tempfile.mkdtemp(prefix=f"{SCRATCH}-", dir=scratch.parent)) / SCRATCH)
    scratch.mkdir(mode=0o700)


def prove(level: str) -> Proof:
    """Try a level: put the fence up around a probe that writes, moves and signals where it must not."""
    program = _bubblewrap(level)
    if level == "bwrap" and not program:
        return Proof(level, False, "bwrap is not installed (the package is called bubblewrap)")
    with tempfile.TemporaryDirectory(prefix="recall-fence-") as place:
        inside, outside = Path(place, "inside"), Path(place, "outside")
        inside.mkdir()
        outside.mkdir()
        argv = fence_argv(Fence(level, (), inside, network=True, program=program), outside)
        signals = level != "landlock" or landlock_abi() >= SCOPED_SINCE
        stranger = str(os.getpid()) if signals else "0x"
        return _tried(level, [*argv, "/bin/sh", "-c", _PROBE, "sh", str(inside), str(outside), stranger], signals)


def _tried(level: str, argv: list[str], signals: bool) -> Proof:
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as broken:
        raise EnvironmentFailure(f"sandbox level {level} could not be tried: {broken}") from broken
    if done.returncode == 0:
        more = "or signalled" if signals else "; signals are not stopped (Linux 6.12 can)"
        return Proof(level, True, f"nothing outside can be written, moved to {more}")
    said = clip(clean_line(done.stderr.decode("utf-8", "replace")), 200)
    return Proof(level, False, _HOLES.get(done.returncode, said or f"the probe ended with {done.returncode}"))


def _bubblewrap(level: str) -> str:
    return (shutil.which("bwrap") or "") if level == "bwrap" else ""
