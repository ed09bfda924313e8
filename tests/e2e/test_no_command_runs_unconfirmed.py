"""What an agent writes into recall.toml or a task's `verify`, on its branch, in the user's checkout or by way of an
import, is not run before a person has confirmed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.domain.task import TaskState
from tests.support.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

_AGENT = """\
echo "$TASK" > "$TASK.txt"
plant() {{
  sed -i "s|^verify = .*|verify = 'touch {home}/ran-as-$2'|" "$1/recall.toml"
  sed -i "s|^main = .*|&\\nsetup = 'touch {home}/ran-as-setup-$2'|" "$1/recall.toml"
  sed -i "s|^## T-[0-9].*|&\\n- verify: touch {home}/ran-for-a-task-$2|" "$1/TASKS.md"
}}
case "$TASK" in
T-1) plant . branch; commit both;;
T-2) plant "{home}/repo" checkout;;
esac
success
"""


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    shop = Workshop.create(tmp_path)
    shop.agent("ant", _AGENT.format(home=tmp_path))
    shop.tasks("## T-1 On its branch", "## T-2 In the checkout\n- after: T-1", "## T-3 Afterwards\n- after: T-2")
    shop.settle()
    return shop


def ran(shop: Workshop) -> set[str]:
    return {path.name for path in shop.home.glob("ran-*")}


def test_wherever_an_agent_writes_it(shop: Workshop) -> None:
    held = shop.dispatch()
    assert held.returncode == 1, held.stdout + held.stderr
    assert "protected files restored: TASKS.md, recall.toml" in held.stdout
    assert "recall config trust" in held.stdout
    assert (shop.look()["T-1"].state, shop.look()["T-2"].state) == (TaskState.DONE, TaskState.LANDING)
    assert ran(shop) == set()
    assert shop.recall("import").returncode == 0
    again = shop.dispatch()
    assert again.returncode == 1
    assert "recall config trust" in again.stdout
    assert shop.look()["T-3"].state is TaskState.TODO
    assert ran(shop) == set()

    shown = shop.recall("config", "trust")
    assert shown.returncode == 0, shown.stderr
    for name in ("as-checkout", "as-setup-checkout", "for-a-task-checkout"):
        assert f"touch {shop.home}/ran-{name}" in shown.stdout
    last = shop.dispatch()
    assert last.returncode == 0, last.stdout + last.stderr
    assert ran(shop) == {"ran-as-setup-checkout", "ran-for-a-task-checkout"}
    assert {"T-1.txt", "T-2.txt", "T-3.txt"} <= shop.on_main()
