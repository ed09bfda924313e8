"""What a run put out, printed as people read it or as it came."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from recall.cli.project import Project, unknown
from recall.cli.report import Refusal, say_coloured, say_json
from recall.domain.run import Run, RunState
from recall.domain.task import TaskRef
from recall.domain.text import clean

if TYPE_CHECKING:
    from recall.agents.rendered import RenderedTranscript
    from recall.agents.transcript import Transcript

_POLL_SECONDS = 0.2


def run_named(project: Project, name: str) -> Run:
    """Find the latest run of a task, or the run with this number, or end the command naming the nearest."""
    task = project.store.task(TaskRef.parse(name))
    if task is not None:
        runs = project.store.runs(task.ref)
        if not runs:
            raise Refusal(f"{task.ref} has no run yet, so nothing was put out")
        return runs[-1]
    run = project.store.run(int(name)) if name.isdecimal() and len(name) < 19 else None
    if run is None:
        raise Refusal(unknown("task or run", name, (str(task.ref) for task in project.store.tasks())))
    return run


def print_output(project: Project, run: Run, *, raw: bool, follow: bool, as_json: bool = False) -> None:
    """Print it up to its end, or as long as the run is under way; as JSON an object a line."""
    for text in _lines(_pieces(project, run, raw=raw, follow=follow)):
        if as_json:
            for line in clean(text).split("\n"):
                say_json({"run": run.id, "text": line}, compact=True)
        else:
            say_coloured(text)


def _lines(pieces: Iterator[bytes]) -> Iterator[str]:
    """Put pieces together to whole lines, many at a time, without the end of the last one."""
    half = b""
    for data in pieces:
        whole, end, rest = data.rpartition(b"\n")
        if end:
            yield (half + whole).decode("utf-8", "replace")
        half = rest if end else half + data
    if half:
        yield half.decode("utf-8", "replace")


def _pieces(project: Project, run: Run, *, raw: bool, follow: bool) -> Iterator[bytes]:
    text, offset = _output(project, run, raw=raw), 0
    while True:
        now = project.store.run(run.id) if follow else None
        while (chunk := text.read(offset)).data or _grows(text):
            if chunk.start > offset:
                yield f"\n… {chunk.start - offset} bytes not kept\n".encode()
            offset = chunk.end
            yield chunk.data
        if now is None or now.state not in (RunState.PREPARING, RunState.RUNNING):
            return
        time.sleep(_POLL_SECONDS)


def _grows(text: Transcript | RenderedTranscript) -> bool:
    """Take a step in the output; False: there is no more at the moment."""
    from recall.agents.rendered import RenderedTranscript

    if not isinstance(text, RenderedTranscript):
        return False
    text.size()
    return not text.is_complete


def _output(project: Project, run: Run, *, raw: bool) -> Transcript | RenderedTranscript:
    from recall.agents.rendered import output_of
    from recall.agents.transcript import Transcript

    folder = project.state / "runs" / str(run.id)
    if not folder.is_dir():
        raise Refusal(f"run {run.id} put nothing out that was kept here; `recall show {run.id}` tells how it ended")
    if raw:
        return Transcript(folder)
    workspaces = project.location.workspaces_root(project.settings.workspaces.root) / "ws"
    return output_of(folder, project.settings, run, workspaces)
