"""Cycles in a graph of prerequisites, without recursion: a chain may be as long as the list."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

Graph = Mapping[str, Sequence[str]]


def find_cycles(graph: Graph) -> list[list[str]]:
    """Give one shortest cycle for each knot of nodes that wait for one another, each beginning with the
    node that the graph names first. Every target must be a node."""
    order = {node: position for position, node in enumerate(graph)}
    cycles: list[list[str]] = []
    for knot in _strong_components(graph):
        if len(knot) > 1:
            cycles.append(_shortest_cycle(graph, min(knot, key=order.__getitem__), set(knot)))
    return sorted(cycles, key=lambda cycle: order[cycle[0]])


def _strong_components(graph: Graph) -> Iterator[list[str]]:
    """Tarjan's algorithm with its stack of calls kept by hand."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    unassigned: list[str] = []
    waiting: set[str] = set()
    for root in graph:
        if root in index:
            continue
        calls: list[tuple[str, Iterator[str]]] = [(root, iter(graph[root]))]
        index[root] = lowest[root] = len(index)
        unassigned.append(root)
        waiting.add(root)
        while calls:
            node, targets = calls[-1]
            target = next((t for t in targets if t not in index or t in waiting), None)
            if target is None:
                calls.pop()
                if calls:
                    caller = calls[-1][0]
                    lowest[caller] = min(lowest[caller], lowest[node])
                if lowest[node] == index[node]:
                    yield _cut(unassigned, node, waiting)
            elif target in index:
                lowest[node] = min(lowest[node], index[target])
            else:
                index[target] = lowest[target] = len(index)
                unassigned.append(target)
                waiting.add(target)
                calls.append((target, iter(graph[target])))


def _cut(unassigned: list[str], node: str, waiting: set[str]) -> list[str]:
    start = len(unassigned) - 1
    while unassigned[start] != node:
        start -= 1
    component = unassigned[start:]
    del unassigned[start:]
    waiting.difference_update(component)
    return component


def _shortest_cycle(graph: Graph, start: str, knot: set[str]) -> list[str]:
    came_from: dict[str, str] = {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for target in graph[node]:
            if target == start:
                return _path(came_from, start, node)
            if target in knot and target not in came_from:
                came_from[target] = node
                queue.append(target)
    raise AssertionError("a knot holds a cycle through each of its nodes")


def _path(came_from: Mapping[str, str], start: str, end: str) -> list[str]:
    path = [end]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return path[::-1]
