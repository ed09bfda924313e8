"""Is this exact tree green? Verdicts are remembered by tree and command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from recall.domain.work import Verified
from recall.engine.commands import CommandEnd, run_command
from recall.engine.parts import Parts


@dataclass(slots=True)
class Verifier:
    """Runs the verify command on a checkout of one commit. Used by the landing thread alone."""

    parts: Parts
    give_up: Callable[[], bool]
    _verdicts: dict[tuple[str, str], Verified] = field(default_factory=dict[tuple[str, str], Verified])
    _count: int = 0

    def verdict(self, commit: str, command: str | None) -> Verified | None:
        """Give the verdict on a commit's tree; None when it was given up with the dispatcher.

        A red tree is tried once more at once: if it passes then, it counts as green and is said to be flaky.
        """
        if command is None:
            return Verified(True, 'no verify command: verify = "none"')
        key = (self.parts.git.tree_of(commit), command)
        known = self._verdicts.get(key)
        if known is not None:
            return known
        first = self._try(commit, command)
        if first is None:
            return None
        final = first if first.green else self._again(first, commit, command)
        if final is not None:
            self._verdicts[key] = final
        return final

    def known_green(self, commit: str, command: str | None) -> bool:
        """Tell whether this tree was seen green before, without trying."""
        if command is None:
            return True
        known = self._verdicts.get((self.parts.git.tree_of(commit), command))
        return known is not None and known.green

    def forget_red(self) -> None:
        """Try trees that were red anew when they come again."""
        self._verdicts = {key: verdict for key, verdict in self._verdicts.items() if verdict.green}

    def _again(self, first: Verified, commit: str, command: str) -> Verified | None:
        second = self._try(commit, command)
        if second is not None and second.green:
            return Verified(True, f"flaky: red at first ({first.reason}), green at once on the same tree")
        return second

    def _try(self, commit: str, command: str) -> Verified | None:
        started = self.parts.clock.now().mono
        slot = self.parts.git.open_slot(commit)
        for step in filter(None, (self.parts.settings.setup, command)):
            self._count += 1
            now = self.parts.clock.now()
            name = f"verify-{now.wall:.0f}-{self._count}-{self.parts.rng.token(4)}"
            spec = self.parts.planner.command_run(name, step, slot, self.parts.settings.verify_timeout)
            end = run_command(self.parts.runner, spec, give_up=self.give_up)
            if end.given_up:
                return None
            if not end.green:
                return self._red(step, end, started)
        changed = self.parts.git.slot_changes(slot, commit)
        if changed:
            names = ", ".join(changed[:8])
            return Verified(False, f"the verify command changed tracked files: {names}", "", self._since(started))
        return Verified(True, "green", "", self._since(started))

    def _red(self, step: str, end: CommandEnd, started: float) -> Verified:
        return Verified(False, f"`{step}` is red: {end.reason}", end.tail, self._since(started))

    def _since(self, started: float) -> float:
        return self.parts.clock.now().mono - started
