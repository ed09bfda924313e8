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

from recall.agents.environment import agent_environment
from recall.agents.fence import SCOPED_SINCE, landlock_abi
from recall.agents.other_user import account_of, open_way
from recall.config.settings import Settings
from recall.domain.errors import ConfigError, EnvironmentFailure
from recall.domain.frozen import frozen
from recall.domain.launch import Fence
from recall.domain.text import clean_line, clip
from recall.whole_files import replace_file

LEVELS = ("landlock", "bwrap", "user")
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
[ "$4" = cut ] && grep : /proc/net/dev | grep -qv '^ *lo:' && exit 16
exit 0
"""
#: Says, a line each, what another user can do and must not, or must and cannot.
_USER_PROBE = """\
cd "$1" 2>/dev/null || echo "it cannot enter $1"
ls "$2" >/dev/null 2>&1 || echo "it cannot read $2, which clones borrow from"
"$3" --version >/dev/null 2>&1 || echo "it cannot run $3, with which agents report; its Python is $4"
shift 4
for place; do
    if [ -d "$place" ]; then
        made=$(mktemp "$place/.recall-probe-XXXXXX" 2>/dev/null) && rm -f "$made" && echo "it can write $place"
    elif [ -e "$place" ]; then
        (: >> "$place") 2>/dev/null && echo "it can write $place"
    fi
done
exit 0
"""
_HOLES = {
    11: "its own folder cannot be written",
    12: "a file outside can be written",
    13: "what it starts can write outside",
    14: "a file can be moved outside",
    15: "processes outside can be signalled",
    16: "the network can be reached",
}


@frozen
class Proof:
    """Whether a level holds on this machine; `what` says what was seen or what is missing."""

    level: str
    holds: bool
    what: str


@frozen
class Reach:
    """What another user is tried on: `keep_out` are the folders and files that no run may write, `root` is the folder
    of workspaces, `objects` what clones borrow, `program` the argv of the `recall` command that agents call."""

    keep_out: tuple[Path, ...]
    root: Path
    objects: Path
    program: tuple[str, ...]


def fence_for(
    settings: Settings, cwd: Path, scratch: Path, environ: Mapping[str, str], *, own: Iterable[str] = (), agent: bool
) -> Fence | None:
    """Give the fence of a run in `cwd`, or None when runs are not fenced. `own` are the agent's own folders.
    `sandbox.network` is for set-up and verification: an agent cannot work without its provider."""
    sandbox = settings.sandbox
    level = settings.sandbox_level
    if level == "none":
        return None
    has_network = agent or sandbox.network == "on"
    if level == "user":
        return Fence(level, (), cwd.parent / f"{cwd.name}.{SCRATCH}", has_network, user=sandbox.user)
    listed = (*CACHES, *sandbox.write, *own)
    write = (cwd, *(expanded(path, environ) for path in listed))
    return Fence(level, write, scratch, has_network, program=_bubblewrap(level))


def expanded(path: str, environ: Mapping[str, str]) -> Path:
    """Put the home folder of the environment in the place of `~`."""
    home = environ.get("HOME", "")
    return Path(home + path[1:] if home and (path == "~" or path.startswith("~/")) else path)


def check_fence(settings: Settings, reach: Reach, environ: Mapping[str, str]) -> None:
    """Raise ConfigError when the chosen level does not hold here, or when what may be written holds, or lies in,
    one of the folders that no run may write. Opens the way to the workspaces for another user."""
    level = settings.sandbox_level
    if level == "none":
        return
    proof = prove_as_set(settings, reach)
    if not proof.holds:
        raise ConfigError(
            f"sandbox.level {level} does not hold on this machine: {proof.what}; `recall doctor` tries every level, "
            'and sandbox.level = "none" in recall.toml goes without'
        )
    if level == "user":
        return  # the folders are that user's own
    closed = [folder.resolve() for folder in reach.keep_out]
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
        "user": fence.user,
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


def prove_as_set(settings: Settings, reach: Reach) -> Proof:
    """Try the level that is in force, as it is set."""
    if settings.sandbox_level == "user":
        return prove_user(settings.sandbox.user, reach, network=settings.sandbox.network == "on")
    return prove(settings.sandbox_level, network=settings.sandbox.network == "on")


def prove(level: str, *, network: bool = True) -> Proof:
    """Try a level: put the fence up around a probe that writes, moves and signals where it must not, and that finds
    no network without `network`."""
    program = _bubblewrap(level)
    if level == "bwrap" and not program:
        return Proof(level, False, "bwrap is not installed (the package is called bubblewrap)")
    with tempfile.TemporaryDirectory(prefix="recall-fence-") as place:
        inside, outside = Path(place, "inside"), Path(place, "outside")
        inside.mkdir()
        outside.mkdir()
        argv = fence_argv(Fence(level, (), inside, network, program), outside)
        signals = level != "landlock" or landlock_abi() >= SCOPED_SINCE
        stranger = str(os.getpid()) if signals else "0x"
        told = [str(inside), str(outside), stranger, "on" if network else "cut"]
        code, said, _ = _tried(level, [*argv, "/bin/sh", "-c", _PROBE, "sh", *told])
    if code:
        return Proof(level, False, _HOLES.get(code, said or f"the probe ended with {code}"))
    more = "or signalled" if signals else "; signals are not stopped (Linux 6.12 can)"
    cut = "" if network else "; there is no network"
    return Proof(level, True, f"nothing outside can be written, moved to {more}{cut}")


def prove_user(name: str, reach: Reach, *, network: bool = True) -> Proof:
    """Try another user: have it attempt to write what no run may, and to do what every run must."""
    if not name:
        return Proof("user", False, "sandbox.user in recall.toml names nobody")
    if os.geteuid() != 0:
        what = "only a dispatcher that runs as root can start agents as another user"
        return Proof("user", False, f"{what} (docs/SECURITY.md has another way)")
    try:
        account = account_of(name)
    except ConfigError as refused:
        return Proof("user", False, str(refused))
    open_way(account, reach.root)
    with tempfile.TemporaryDirectory(prefix="recall-fence-") as place:
        argv = fence_argv(Fence("user", (), Path(place), network, user=name), Path(place))
        python = os.path.realpath(sys.executable)
        told = [str(reach.root), str(reach.objects), reach.program[0], python, *map(str, reach.keep_out)]
        code, said, found = _tried("user", [*argv, "/bin/sh", "-c", _USER_PROBE, "sh", *told])
    if code or found:
        return Proof("user", False, f"as {name}, {found}" if found else said or f"the probe ended with {code}")
    return Proof("user", True, f"as {name}, agents can work, and write neither the store nor the checkout")


def _tried(level: str, argv: list[str]) -> tuple[int, str, str]:
    """Give the exit status of a probe, what it complained of, and the lines that it printed, joined."""
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=False, cwd="/",
            env=agent_environment(os.environ, cwd=Path("/")),
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as broken:
        raise EnvironmentFailure(f"sandbox level {level} could not be tried: {broken}") from broken
    said = clip(clean_line(done.stderr.decode("utf-8", "replace")), 200)
    found = ", ".join(clean_line(line) for line in done.stdout.decode("utf-8", "replace").splitlines())
    return done.returncode, said, found


def _bubblewrap(level: str) -> str:
    return (shutil.which("bwrap") or "") if level == "bwrap" else ""
