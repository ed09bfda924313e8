"""Where a piece of the document stands, and what that makes of boxes and labels in it."""

from __future__ import annotations

import re
from enum import StrEnum

from recall.domain.frozen import frozen
from recall.tasklist.draft import Draft, Form
from recall.tasklist.ids import is_number, of_one_family

_LABEL_WORDS = re.compile(
    r"acceptance|criteri|definition of done|\bdone\b|\bdod\b|[验驗]收|完成[條条]件", re.IGNORECASE
)
_CRITERION = re.compile(r"(?:AC|DOD|CR)[-_.]?\d", re.IGNORECASE)


class Reads(StrEnum):
    """Which fields count in a place: all right under a task, only links further down, none in criteria."""

    ALL = "all"
    LINKS = "links"
    NONE = "none"


@frozen
class Scope:
    """Where a run of blocks stands. `labelled`: under acceptance criteria or the like. `skipped`: below a
    template's placeholder. `top`: boxes without an id are tasks here."""

    owner: Draft | None = None
    labelled: bool = False
    skipped: bool = False
    top: bool = False
    reads: Reads = Reads.ALL


def is_task_of_its_own(scope: Scope, id: str) -> bool:
    owner = scope.owner
    if owner is None:
        return not scope.labelled or not is_criterion(id)
    if scope.labelled:
        return False
    if owner.form is Form.HEADING:
        return of_one_family(owner.id, id)
    if is_number(id) and not owner.automatic:
        return of_one_family(owner.id, id)
    return not is_criterion(id) or of_one_family(owner.id, id)


def nested_in(scope: Scope) -> Scope:
    """Give the scope of what is nested in an item that is no task."""
    reads = Reads.LINKS if scope.reads is Reads.ALL and scope.owner else scope.reads
    if not scope.top and reads is scope.reads:
        return scope
    return Scope(scope.owner, scope.labelled, scope.skipped, reads=reads)


def is_label(text: str, *, heading: bool = False) -> bool:
    """Tell whether a text announces criteria: `**Acceptance**`, `Done when:`, `### Definition of done`."""
    bare = text.strip().strip("*_ ")
    if len(bare) > 80 or not _LABEL_WORDS.search(bare):
        return False
    if heading:
        return bare.casefold() != "done"
    return bare.endswith((":", "：")) or bare != text.strip()


def is_criterion(id: str) -> bool:
    """Tell `AC1` and its like from the ids of tasks."""
    return _CRITERION.match(id) is not None
