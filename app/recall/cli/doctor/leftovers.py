"""What runs that are over may have left: processes, and workspaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from recall.cli.doctor.finding import Finding, fine, note, wrong
from recall.cli.project import Project

if TYPE_CHECKING:
    from recall.agents.runner import ProcessRunner


def look_at_processes(project: Project) -> Iterator[Finding]:
    from recall.agents.runner import ProcessRunner

    runner = ProcessRunner(project.clock, project.rng)
    open_ids = {str(run.id) for run in project.store.open_runs()}
    folders = sorted((project.state / "runs").glob("*"))
    # set-up and verification commands (folders that are no number) belong to a dispatcher that waits for them
    over = [folder for folder in folders if folder.name.isdigit() and folder.name not in open_ids]
    strays = [folder for folder in over if runner.status(folder).live]
    if not strays:
        yield fine("processes", "none is left of a run that is over")
    for folder in strays:
        what = f"run {folder.name} is over, but its processes live"
        yield wrong("processes", what, "the next start of recall-tui ends them", fix=_ender(runner, folder))


def _ender(runner: ProcessRunner, folder: Path) -> Callable[[], str]:
    def fix() -> str:
        ended = runner.stop_and_wait(folder, "shutdown")
        return f"the processes of run {folder.name} are {'gone' if ended else 'still there after 30 s'}"

    return fix


def look_at_workspaces(project: Project) -> Iterator[Finding]:
    """Folders without a run, and work that waits for a person. Tidying needs the dispatcher's place, so it is
    offered only while nobody has it."""
    from recall.bootstrap import dispatcher_runs

    root = project.location.workspaces_root(project.settings.workspaces.root) / "ws"
    owned = {run.slot for run in project.store.open_runs() if run.slot}
    known = {run.slot for run in project.store.runs() if run.slot}
    present = {folder.name for folder in root.iterdir()} if root.is_dir() else set[str]()
    for name in sorted(present - known):
        yield note("workspaces", f"{root / name} belongs to no run", "look into it, then remove it by hand")
    missing = sorted(owned - present)
    for name in missing:
        yield wrong("workspaces", f"{root / name} of an open run is gone", "`recall requeue` starts its task again")
    if not missing:
        idle = len((present & known) - owned)
        yield fine("workspaces", f"{len(owned)} in use, {idle} kept for the next run")
    if owned and not dispatcher_runs(project.state):
        yield note("workspaces", f"{len(owned)} open runs and no dispatcher", "`recall-tui` goes on with them")
