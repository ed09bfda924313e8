"""Small projects that come by many places at which a dispatcher can be killed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.promises import add_dirt, add_witness
from tests.support.workshop import Workshop

#: More often than any test kills: a task that was interrupted that often would be left to a person.
MANY = 50


@dataclass(frozen=True)
class Scene:
    """`waiting` are the tasks that end with a person, with words of the reason. `dirty`: the user edits other
    files in the checkout meanwhile, so main is moved in another way."""

    build: Callable[[Workshop], None]
    waiting: Mapping[str, str] = field(default_factory=dict[str, str])
    dirty: bool = False

    def set_up(self, home: Path) -> Workshop:
        shop = Workshop.create(home)
        shop.settings = shop.settings.replace("[run]\n", f"[run]\nmax_interruptions = {MANY}\n")
        self.build(shop)
        shop.settle()
        if self.dirty:
            add_dirt(shop)
        return shop


def _plain(shop: Workshop) -> None:
    """Commits, files that are left uncommitted, and an edit of a protected file."""
    script = add_witness(shop) + (
        'for part in a b; do echo "$TASK $part" > "$TASK.$part"; made "$TASK.$part"; '
        '[ $part = b ] || commit "$TASK: write"; done\n'
        '[ "$TASK" != T-2 ] || { echo "- mine" >> TASKS.md; commit "$TASK: the list, too"; }\n'
        "success"
    )
    shop.agent("ant", script)
    shop.agent("bee", script)
    shop.tasks("## T-1 First", "## T-2 Second\n- after: T-1", "## T-3 Third")


def _telling(shop: Workshop) -> None:
    """An agent that prints events, which say what it used up."""
    used = '{"type":"result","session_id":"s","total_cost_usd":0.5,"usage":{"input_tokens":7}}'
    script = f"""{add_witness(shop)}echo "$TASK" > "$TASK.a"; made "$TASK.a"; echo '{used}'; success"""
    shop.agent("ant", script, stream="claude")
    shop.tasks("## T-1 First", "## T-2 Second")


_TROUBLES = {
    "T-1": "One side",
    "T-2": "Other side",
    "T-3": "Red at first",
    "T-4": "Half at first",
    "T-5": "Hopeless\n- attempts: 1",
    "T-6": "With a merge",
}


def _troubles(*ids: str) -> Callable[[Workshop], None]:
    """Two that conflict (T-1, T-2), one that is red at first, one whose first run leaves files and fails, one that
    only fails, one whose commits hold a merge."""

    def build(shop: Workshop) -> None:
        shop.verify = "test ! -e broken"
        gate = f"{shop.home}/gate"
        script = add_witness(shop) + (
            'case "$TASK" in\n'
            f'T-1|T-2) : > "{gate}-$TASK"; while [ "$(ls "{gate}"-* | wc -l)" -lt 2 ]; do sleep 0.05; done\n'
            'echo "$TASK $(cat README.md)" > README.md; made README.md; commit "$TASK"; success;;\n'
            "T-3) echo good > good; made good; again || { echo bad > broken; made broken; }; success;;\n"
            "T-4) again && part=whole || part=half; echo $part > $part; made $part; again && success || failure;;\n"
            'T-5) echo hopeless > hopeless; made hopeless; failure "it cannot be done";;\n'
            "T-6) git checkout -q -b side-$RECALL_RUN_ID; echo s > side; made side; commit side; git checkout -q -\n"
            'git -c user.name=A -c user.email=a@example.invalid merge -q --no-ff -m merged "side-$RECALL_RUN_ID"\n'
            'git branch -q -d "side-$RECALL_RUN_ID"; success;;\n'
            "esac"
        )
        for name in ("ant", "bee", "cat")[: len(ids)]:
            shop.agent(name, script)
        shop.tasks(*(f"## {id_} {_TROUBLES[id_]}" for id_ in ids))

    return build


_BEGINS = 'echo half > "$TASK.a"; made "$TASK.a"; commit half; echo loose > "$TASK.loose"; made "$TASK.loose"; '


def _limited(shop: Workshop) -> None:
    """Each task's first run ends at a limit, and goes on where it stopped."""
    rest = 'echo rest > "$TASK.b"; made "$TASK.b"; success'
    limit = 'echo "Error: usage limit reached, try again in 1 second"; exit 1'
    shop.agent("ant", f'{add_witness(shop)}if test -e "$TASK.a"; then {rest}; else {_BEGINS}{limit}; fi')
    shop.tasks("## T-1 First", "## T-2 Second")


def _handed_over(shop: Workshop) -> None:
    """Whoever comes first is limited for hours; the other one starts over with its diff."""
    over = "printf '%s' \"$PROMPT\" | grep -q 'Begun before, and left'"
    rest = 'echo new > "$TASK.b"; made "$TASK.b"; success'
    limit = 'echo "Error: usage limit reached, try again in 3 hours"; exit 1'
    script = f"{add_witness(shop)}if {over}; then {rest}; else {_BEGINS}{limit}; fi"
    shop.agent("ant", script)
    shop.agent("bee", script)
    shop.tasks("## T-1 First")


_HOPELESS = {"T-5": "it cannot be done"}

PLAIN = Scene(_plain)
LIMITED = Scene(_limited)
HANDED_OVER = Scene(_handed_over)
TELLING = Scene(_telling)
EDITED = Scene(_plain, dirty=True)
CONFLICT = Scene(_troubles("T-1", "T-2"))
RED = Scene(_troubles("T-3"))
FAILING = Scene(_troubles("T-4", "T-5"), waiting=_HOPELESS)
MERGE = Scene(_troubles("T-6"))
TROUBLE = Scene(_troubles(*_TROUBLES), waiting=_HOPELESS, dirty=True)
