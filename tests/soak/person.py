"""A person who steps in at random: pauses, requeues, answers, and edits the task list."""

from __future__ import annotations

import random
from collections.abc import Callable

from recall.domain.task import Task, TaskState
from tests.soak.agents import AGENTS
from tests.support.workshop import Workshop


class Person:
    """`tasks` is the list that the person keeps, as (id, title, prerequisites)."""

    def __init__(self, shop: Workshop, rng: random.Random) -> None:
        self._shop = shop
        self._rng = rng
        self._list: list[tuple[str, str, list[str]]] = []
        self.acts = 0

    def add_tasks(self, count: int) -> None:
        """Write new tasks below the others; some wait for one or two earlier ones."""
        for _ in range(count):
            earlier = [id_ for id_, _, _ in self._list]
            after = self._rng.sample(earlier, min(len(earlier), self._rng.choice([0, 0, 0, 1, 2])))
            self._list.append((f"T-{len(self._list) + 1}", "New work", after))
        self._write()

    def act(self) -> None:
        """Do one thing that a person might do now."""
        self.acts += 1
        ways: list[Callable[[], None]] = [
            self._pause_somebody, self._resume_all, self._requeue, self._answer, self._hold, self._reword, self._grow,
        ]  # fmt: skip
        self._rng.choice(ways)()

    def clear_the_way(self) -> None:
        """Let everything go on that waits for a person."""
        self._resume_all()
        for task in self._shop.look().values():
            if task.state is TaskState.ON_HOLD:
                self._shop.recall("unhold", task.id)
            elif task.state is TaskState.NEEDS_PERSON:
                self._shop.recall("answer", task.id, "the short one")
                self._shop.recall("requeue", task.id)

    def open_tasks(self) -> list[Task]:
        return [task for task in self._shop.look().values() if task.state is not TaskState.DONE]

    def _pause_somebody(self) -> None:
        self._shop.recall("pause", *self._rng.choice([[], [f"a{self._rng.randrange(AGENTS)}"]]))

    def _resume_all(self) -> None:
        self._shop.recall("resume")
        with self._shop.store() as store:
            stopped = [agent.name for agent in store.agents() if agent.paused or agent.stopped_reason]
        for name in stopped:
            self._shop.recall("resume", name)

    def _requeue(self) -> None:
        self._to_one_of(TaskState.NEEDS_PERSON, "requeue")
        self._to_one_of(TaskState.IN_PROGRESS, "requeue")

    def _answer(self) -> None:
        self._to_one_of(TaskState.NEEDS_PERSON, "answer", "the long one")

    def _hold(self) -> None:
        self._to_one_of(TaskState.IN_PROGRESS, "hold")
        self._to_one_of(TaskState.ON_HOLD, "unhold")

    def _to_one_of(self, state: TaskState, command: str, *more: str) -> None:
        them = [task.id for task in self._shop.look().values() if task.state is state]
        if them:
            self._shop.recall(command, self._rng.choice(them), *more)

    def _reword(self) -> None:
        place = self._rng.randrange(len(self._list))
        id_, title, after = self._list[place]
        self._list[place] = (id_, f"{title} again", after)
        self._write()

    def _grow(self) -> None:
        self.add_tasks(3)

    def _write(self) -> None:
        blocks = [
            f"## {id_} {title}" + (f"\n- after: {', '.join(after)}" if after else "")
            for id_, title, after in self._list
        ]
        self._shop.tasks(*blocks)
