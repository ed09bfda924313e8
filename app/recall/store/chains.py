"""How tasks wait for each other: the longest chain of work behind each, and cycles. No recursion: a list may be
one chain of thousands."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from recall.domain.frozen import frozen
from recall.domain.task import TaskRef

Needs = Mapping[TaskRef, Iterable[TaskRef]]


@frozen
class Cycle:
    """Tasks that wait for each other in a ring: each for the next, the last for the first."""

    refs: tuple[TaskRef, ...]

    def __str__(self) -> str:
        return " -> ".join(map(str, (*self.refs, self.refs[0])))


def longest_behind(needs: Needs, group_of: Mapping[TaskRef, TaskRef]) -> dict[TaskRef, int] | Cycle:
    """Count the tasks on the longest chain that waits for each task; `needs` names every task. A group is no
    work itself, but what waits for it waits for its sub-tasks."""
    groups = set(group_of.values())
    followers = _followers(needs, group_of)
    predecessors: dict[TaskRef, list[TaskRef]] = defaultdict(list)
    for ref, behind in followers.items():
        for follower in behind:
            predecessors[follower].append(ref)
    open_followers = Counter({ref: len(behind) for ref, behind in followers.items()})
    ready = [ref for ref in needs if not open_followers[ref]]
    length = dict.fromkeys(ready, 0)
    while ready:
        ref = ready.pop()
        step = length[ref] + (ref not in groups)
        for before in predecessors[ref]:
            length[before] = max(length.get(before, 0), step)
            open_followers[before] -= 1
            if not open_followers[before]:
                ready.append(before)
    return _cycle({ref for ref in followers if open_followers[ref]}, followers) or length


def _followers(needs: Needs, group_of: Mapping[TaskRef, TaskRef]) -> dict[TaskRef, list[TaskRef]]:
    followers: dict[TaskRef, list[TaskRef]] = defaultdict(list)
    for ref, prerequisites in needs.items():
        for prerequisite in prerequisites:
            followers[prerequisite].append(ref)
    for ref, group in group_of.items():
        followers[ref].append(group)
    return dict(followers)


def _cycle(stuck: set[TaskRef], followers: Mapping[TaskRef, list[TaskRef]]) -> Cycle | None:
    """Every stuck task has a stuck follower, so walking along them closes a ring."""
    if not stuck:
        return None
    way = [min(stuck)]
    seen = {way[0]: 0}
    while True:
        step = next(follower for follower in followers[way[-1]] if follower in stuck)
        if step in seen:
            return Cycle(tuple(reversed(way[seen[step] :])))
        seen[step] = len(way)
        way.append(step)
