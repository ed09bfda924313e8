"""The remote that recall.toml names: whether what lands, or is offered, would get there. Nothing is changed there."""

from __future__ import annotations

import os
from collections.abc import Iterator

from recall.cli.doctor.finding import Finding, fine, note, wrong
from recall.cli.project import Project
from recall.domain.receipts import Unknown

_ABOUT = "remote"
_TRIAL = "recall-offers/trial"


def look_at_remote(project: Project) -> Iterator[Finding]:
    """Only where something would be pushed."""
    from recall.bootstrap import remote_at
    from recall.gitops.repository import Repository

    settings, location = project.settings, project.location
    if not settings.push:
        return
    remote = remote_at(location, settings)
    if not remote.address():
        what = f'recall.toml says push = "{remote.name}", and there is no such remote here'
        yield wrong(_ABOUT, what, f"git remote add {remote.name} ADDRESS, or another name in recall.toml")
        return
    tip = Repository(location, settings.main, project.state).main_tip()
    trouble = remote.trial(tip, _TRIAL if settings.offers else settings.main)
    if trouble:
        yield wrong(_ABOUT, trouble, f"try `git push --dry-run {remote.name} {settings.main}`, and mend what it says")
    else:
        yield fine(_ABOUT, f"{remote.name} can be reached and takes pushes from here")
    if settings.offers:
        yield _look_at_host(remote.address(), settings.main)


def _look_at_host(address: str, main: str) -> Finding:
    from recall.agents.gh import Gh

    gh = Gh(lambda: address, main, os.environ)
    if missing := gh.missing():
        return note("pull requests", missing, "install it, or open the pull requests of pushed branches yourself")
    found = gh.find(_TRIAL)
    if isinstance(found, Unknown):
        return wrong("pull requests", found.reason, "gh auth login")
    return fine("pull requests", "gh is there, and its host answers")
