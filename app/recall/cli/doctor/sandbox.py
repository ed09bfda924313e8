"""The sandbox: every level proved by trying it, and which one is in force."""

from __future__ import annotations

from collections.abc import Iterator

from recall.cli.doctor.finding import Finding, fine, note, wrong
from recall.cli.project import Project

#: What keeps each level from holding, most often.
_MEND = {
    "landlock": "it needs Linux 6.2 or newer with landlock among the security modules",
    "user": "docs/SECURITY.md says how to set such a user up",
    "bwrap": "install bubblewrap; where user namespaces are forbidden (Ubuntu 24.04), it needs an AppArmor profile",
}


def look_at_sandbox(project: Project) -> Iterator[Finding]:
    from recall.agents.sandbox import LEVELS, prove, prove_as_set, prove_user
    from recall.bootstrap import reach_at

    reach = reach_at(project.location, project.settings)
    level = project.settings.sandbox_level
    if level == "none":
        what = "sandbox.level none is in force: agents can write whatever you can"
        yield note("sandbox", what, 'workspaces.kind = "clone" in recall.toml fences them in')
    else:
        yield fine("sandbox", f"{level} is in force for agents and verification")
    for one in LEVELS:
        if one == level:
            proof = prove_as_set(project.settings, reach)
        else:
            proof = prove_user("", reach) if one == "user" else prove(one)
        if proof.holds:
            yield fine("sandbox", f"{one} holds here: {proof.what}")
        elif one == level:
            yield wrong("sandbox", f"{one} is in force and does not hold here: {proof.what}", _MEND[one])
        else:
            yield note("sandbox", f"{one} does not hold here: {proof.what}", _MEND[one])
