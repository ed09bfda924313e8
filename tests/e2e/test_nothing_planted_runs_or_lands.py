"""Whatever an agent leaves to be run, followed or believed: one table of it, each line played by a real agent under
the real dispatcher, in both kinds of workspaces. None of it runs on anybody's behalf but the agent's own, nothing is
led elsewhere, what must not land does not, and the dispatcher goes on with the next task."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from recall.domain.task import Task, TaskState
from recall.gitops.command import HARDENING
from tests.support.hermetic_git import Repo
from tests.support.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

LANDS, PERSON, UNREPORTED = "lands", "person", "unreported"


@dataclass(frozen=True)
class Plant:
    """`script` runs in the workspace, before the agent reports success (unless it does so itself, or is to end
    UNREPORTED). `worktree` and `clone` say what comes of the run; `told` is part of the reason for a person."""

    name: str
    script: str
    worktree: str = PERSON
    clone: str = LANDS
    told: str = ""


#: Keys that name a program, or lead to one; $CANARY is the program.
_KEYS = """\
for key in core.fsmonitor core.editor core.pager core.sshCommand core.alternateRefsCommand core.gitProxy \\
  core.askPass sequence.editor gpg.program gpg.ssh.program diff.external credential.helper filter.x.clean \\
  filter.x.smudge filter.x.process merge.x.driver diff.x.textconv diff.x.command alias.status alias.log \\
  alias.rev-parse uploadpack.packObjectsHook interactive.diffFilter core.hooksPath
do git config {scope} "$key" "$CANARY"; done
git config {scope} commit.gpgSign true; git config {scope} filter.x.required true
git config {scope} 'url.ext::sh -c touch% %S.insteadOf' /
"""
_HOOKS = """\
mkdir -p "$COMMON/hooks"
for hook in pre-commit post-commit post-checkout post-merge post-rewrite post-index-change update \\
  reference-transaction pre-receive post-receive proc-receive push-to-checkout pre-auto-gc fsmonitor-watchman; do
  cp "$CANARY" "$COMMON/hooks/$hook"; done
"""
_TRAP = """\
g init -q "$OUTSIDE/trap"; g -C "$OUTSIDE/trap" commit -qm trap --allow-empty
g -C "$OUTSIDE/trap" config core.fsmonitor "$CANARY"
"""
_REPORTS = """\
cd .recall-run; ln -s "$OUTSIDE/precious" report-1.json; truncate -s 50M report-2.json
head -c 60000 /dev/zero | tr '\\0' '[' > report-3.json
"""
_INNER = "g init -q inner; g -C inner commit -qm x --allow-empty\n"

#: In two parts, so that this file does not look as if it held one.
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
_TOLD = "deploy.py:2 (a GitHub token)"

PLANTS = [
    Plant("attributes for all files", "echo '* filter=x merge=x diff=x' > .gitattributes", LANDS),
    Plant(
        "a filter, and no trace of its folder",
        'git config filter.x.smudge "$CANARY"; git config filter.x.clean "$CANARY"; success; rm -rf "$OWN"',
        clone=PERSON,
    ),
    Plant("hooks", _HOOKS, told="hooks/post-commit"),
    Plant("configuration", _KEYS.format(scope=""), told="config alias.status"),
    Plant("reports that are a link, of 50 MB and nested deeply", _REPORTS, UNREPORTED, UNREPORTED),
    Plant(
        "an included file",
        'printf "[core]\n\tfsmonitor = %s\n" "$CANARY" > "$OUTSIDE/more"; git config include.path "$OUTSIDE/more"',
        told="config include.path",
    ),
    Plant(
        "configuration of one worktree",
        'git config extensions.worktreeConfig true; git config --worktree core.fsmonitor "$CANARY"',
        told="config.worktree",
    ),
    Plant(
        "attributes beside the tree",
        'mkdir -p "$COMMON/info"; echo "* filter=x" > "$COMMON/info/attributes"',
        told="info/attributes",
    ),
    Plant("a mailbox that is a link", 'rm -r .recall-run; ln -s "$OUTSIDE" .recall-run', UNREPORTED, UNREPORTED),
    Plant(
        "objects from elsewhere",
        _TRAP + 'echo "$OUTSIDE/trap/.git/objects" >> "$COMMON/objects/info/alternates"',
        told="objects/info/alternates",
    ),
    Plant(
        "another object in place of one",
        "echo true > replaced.txt; g add -A; g commit -qm replaced; "
        "git replace $(git rev-parse HEAD:replaced.txt) $(echo planted | git hash-object -w --stdin)",
        LANDS,
    ),
    Plant(
        "a git dir in place of its own",
        _TRAP + 'mv .git ../git; echo "gitdir: $OUTSIDE/trap/.git" > .git',
        clone=PERSON,
    ),
    Plant("a repository inside", _INNER, clone=PERSON, told="repositories"),
    Plant("the same as a commit", _INNER + "g add -A; g commit -qm inner", clone=PERSON, told="repositories"),
    Plant(
        "a submodule",
        _TRAP + 'g -c protocol.file.allow=always submodule --quiet add "$OUTSIDE/trap" sub; g commit -qam sub',
        clone=PERSON,
        told="repositories",
    ),
    Plant(
        "links in place of files and a folder",
        'ln -sf "$OUTSIDE/precious" README.md; ln -sf /etc/passwd TASKS.md; rm -r docs; ln -s "$OUTSIDE" docs',
        LANDS,
    ),
    Plant(
        "the user's own configuration",
        _KEYS.format(scope="--global"),
        clone=PERSON,
        told="global config filter.x.clean",
    ),
    Plant("a token", f"echo 'user = me' > deploy.py; echo 'token = {TOKEN}' >> deploy.py", clone=PERSON, told=_TOLD),
    Plant("a large binary file", "truncate -s 2M core.bin", clone=PERSON, told="core.bin (2.0 MiB)"),
    Plant("what tools leave", "mkdir node_modules web; touch node_modules/a.js web/.DS_Store web/page.js", LANDS),
    Plant(
        "a link in place of where tests run",
        'for slot in "$REPO"/.recall/verify/*; do rm -rf "$slot"; ln -s "$OUTSIDE" "$slot"; done',
        LANDS,
    ),
    Plant("another work tree", 'git config core.worktree "$OUTSIDE"', told="config core.worktree"),
    Plant("a link in place of its folder", 'success; cd ..; mv tree away; ln -s "$OUTSIDE" tree', clone=PERSON),
]

_AGENT = """\
export PLAYING=1 CANARY="{home}/canary" OUTSIDE="{home}/outside" REPO="{home}/repo"
g() {{ git -c core.hooksPath=/dev/null -c commit.gpgSign=false -c core.fsmonitor=false -c user.name=Ant \\
  -c user.email=ant@example.invalid "$@"; }}
COMMON=$(git rev-parse --path-format=absolute --git-common-dir)
OWN=$(git rev-parse --absolute-git-dir)
echo "$TASK" > "$TASK.txt"
case "$TASK" in
{cases}
esac
"""


def _case(number: int, plant: Plant, kind: str) -> str:
    script = plant.script.rstrip("\n")
    if getattr(plant, kind) != UNREPORTED and "success;" not in script:
        script = f"{script}\nsuccess"
    return f"T-{number})\n{script}\n;;"


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    shop = Workshop.create(tmp_path)
    shop.repo.commit("start", {"docs/page.md": "page\n", "code.py": "1\n"})
    canary = tmp_path / "canary"
    caller = "$(tr '\\0' ' ' < /proc/$PPID/cmdline)"
    canary.write_text(f'#!/bin/sh\n[ -n "$PLAYING" ] || echo "$0 $* for {caller}" >> "{tmp_path}/ran"\ncat\n')
    canary.chmod(0o755)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/precious").write_text("mine\n")
    shop.settings = shop.settings.replace("[run]\n", "[run]\nattempts = 1\n")
    return shop


@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_of_all_that_an_agent_plants(shop: Workshop, kind: str) -> None:
    shop.extra = f'[workspaces]\nkind = "{kind}"\n[sandbox]\nlevel = "none"\n'  # nothing keeps it from being planted
    cases = [_case(number, plant, kind) for number, plant in enumerate(PLANTS, 1)]
    last = f"T-{len(PLANTS) + 1}"
    shop.agent("ant", _AGENT.format(home=shop.home, cases="\n".join([*cases, f"{last}) success;;"])))
    titles = [*(plant.name for plant in PLANTS), "honest work at the end"]
    shop.tasks(*(f"## T-{number} Plant {title}" for number, title in enumerate(titles, 1)))
    shop.settle()
    ended = shop.dispatch(timeout=200)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    for command in (["doctor"], ["workspaces"], ["status"]):
        shop.recall(*command)
    ran = shop.home / "ran"
    assert not ran.exists(), ran.read_text()

    tasks = shop.look()
    wanted = {f"T-{number}": getattr(plant, kind) for number, plant in enumerate(PLANTS, 1)} | {last: LANDS}
    assert {name: _came_of(tasks[name]) for name in wanted} == wanted
    unsaid = [
        plant.name
        for number, plant in enumerate(PLANTS, 1)
        if wanted[f"T-{number}"] == PERSON and plant.told not in tasks[f"T-{number}"].reason
    ]
    assert unsaid == []

    landed = {path for path in shop.on_main() if path.startswith("T-")}
    assert landed == {f"{name}.txt" for name, came in wanted.items() if came == LANDS}
    assert shop.repo.file("replaced.txt", "main") == b"true\n"
    assert shop.repo.file("TASKS.md", "main").startswith(b"# Tasks")
    assert (shop.repo.path / "docs").is_symlink()
    assert (shop.home / "outside/precious").read_text() == "mine\n"
    assert {path.name for path in (shop.home / "outside").iterdir()} <= {"precious", "more", "trap"}
    assert {"web/page.js"} == {path for path in shop.on_main() if path.startswith(("web/", "node_modules/"))}
    assert shop.strays() == []
    kept = (path.read_bytes() for path in shop.state.iterdir() if path.name.startswith("recall.db"))
    assert TOKEN not in ended.stdout + ended.stderr
    assert not any(TOKEN.encode() in content for content in kept)


def test_every_git_that_is_started_for_a_landing_is_hardened(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen from outside: whatever the code looks like, each call comes with the switches of the one function."""
    real, calls = shutil.which("git"), shop.home / "calls"
    (shop.home / "bin").mkdir()
    door = shop.home / "bin/git"
    door.write_text(f'#!/bin/sh\n[ -n "$PLAYING" ] || echo "$*" >> "{calls}"\nexec "{real}" "$@"\n')
    door.chmod(0o755)
    shop.agent("ant", 'export PLAYING=1; echo x > "$TASK.txt"; commit x; echo left > left.txt; success')
    shop.agent("bee", 'export PLAYING=1; echo y > README.md; commit y; failure "cannot"')
    shop.tasks("## T-1 Land\n- agents: ant", "## T-2 Fail\n- agents: bee")
    shop.settle()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{door.parent}:{os.environ['PATH']}")
        assert shop.dispatch().returncode == 1
        for command in (["status"], ["doctor"], ["workspaces"], ["workspaces", "restore", "2"]):
            shop.recall(*command)
    assert {"T-1.txt", "left.txt"} <= shop.on_main()
    # GitPython asks `git version` when it is imported, in no repository's name
    made = [line for line in calls.read_text().splitlines() if line != "version"]
    assert len(made) > 30
    assert [line for line in made if not all(f"-c {flag}" in line for flag in HARDENING)] == []


@pytest.mark.parametrize("scope", ["", "--global"])
def test_what_leads_a_push_elsewhere_holds_pushes_until_a_person_looked(shop: Workshop, scope: str) -> None:
    origin = Repo.create(shop.home / "origin.git", bare=True)
    shop.repo.git("remote", "add", "origin", str(origin.path))
    shop.repo.git("push", "-q", "origin", "main")
    before, evil = origin.tip("main"), Repo.create(shop.home / "evil.git", bare=True)
    shop.top, shop.extra = 'push = "origin"\n', "[signals]\ndesktop = false\n"
    plant = f"""
for key in core.sshCommand core.gitProxy remote.origin.receivepack remote.origin.uploadpack credential.helper
do git config {scope} "$key" "$CANARY"; done
git config {scope} url."{evil.path}".insteadOf "{origin.path}"; git config {scope} remote.origin.pushurl "{evil.path}"
success"""
    shop.agent("ant", _AGENT.format(home=shop.home, cases=f"T-1){plant};;\nT-2) success;;"))
    shop.tasks("## T-1 Plant", "## T-2 Land")
    shop.settle()
    held = shop.dispatch()
    assert held.returncode == 1, held.stdout + held.stderr
    assert not (shop.home / "ran").exists(), (shop.home / "ran").read_text()
    assert "T-2.txt" in shop.on_main()
    assert (origin.tip("main"), evil.git("for-each-ref")) == (before, "")
    assert "how git reaches remotes" in held.stdout
    assert "config core.sshcommand" in shop.look()["T-1"].reason + held.stdout

    for key in ("core.sshCommand", "core.gitProxy", "credential.helper", "url", "remote.origin.receivepack"):
        _undo(shop, scope, key)
    for key in ("remote.origin.uploadpack", "remote.origin.pushurl"):
        _undo(shop, scope, key)
    shop.dispatch()
    assert origin.tip("main") == shop.repo.tip("main")


def _undo(shop: Workshop, scope: str, key: str) -> None:
    """What a person does who put it right."""
    where = [scope] if scope else ["--local"]
    if key == "url":
        shop.repo.git("config", *where, "--remove-section", f"url.{shop.home}/evil.git")
    else:
        shop.repo.git("config", *where, "--unset-all", key)


def _came_of(task: Task) -> str:
    if task.state is TaskState.DONE:
        return LANDS
    assert task.state is TaskState.NEEDS_PERSON, task
    return UNREPORTED if "without a report" in task.reason else PERSON
