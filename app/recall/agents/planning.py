"""From settings, a task and a workspace to everything that a shim needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from recall.agents.environment import agent_environment
from recall.agents.other_user import account_of, seen_by
from recall.agents.prompt import Answer, Attempt, Briefing, Stop, build_prompt
from recall.agents.rendered import dialect_for
from recall.agents.sandbox import SCRATCH, fence_for
from recall.config.settings import AgentSettings, Settings
from recall.domain.errors import ConfigError
from recall.domain.frozen import frozen
from recall.domain.launch import Fence, LeaseSpec, RunSpec, ShimStoreContract
from recall.domain.rng import Rng
from recall.domain.run import Run, RunResult
from recall.domain.stream.dialect import Dialect
from recall.domain.task import Task, TaskRef
from recall.domain.usage import LimitPatterns
from recall.domain.work import Handover, Workspace

#: Endings that say nothing about the work, so the next attempt need not hear of them.
_SILENT = frozenset({RunResult.RATE_LIMITED, RunResult.CREDIT_EXHAUSTED, RunResult.AUTH_REQUIRED})


@frozen
class RunPlanner:
    """The planner of `engine.ports`. `find` gives the task of a reference, `environ` is the dispatcher's own
    environment, of which agents see an allow-list."""

    settings: Settings
    contract: ShimStoreContract
    runs: Path
    program: tuple[str, ...]
    environ: Mapping[str, str]
    rng: Rng
    find: Callable[[TaskRef], Task | None]

    def runs_folder(self) -> Path:
        return self.runs

    def patterns(self, agent: str) -> LimitPatterns:
        known = self.settings.agent(agent)
        return known.patterns if known is not None else LimitPatterns()

    def dialect(self, agent: str) -> Dialect | None:
        return dialect_for(self.settings, agent)

    def agent_run(
        self, task: Task, run: Run, workspace: Workspace, earlier: Sequence[Run], handover: Handover | None = None
    ) -> RunSpec:
        """Give the spec of an agent's run. Raises ConfigError for an agent that recall.toml does not know."""
        agent, limits = self._agent(run.agent), self.settings.run
        stopped = next((one for one in earlier if one.id == run.continues and one.branch == workspace.branch), None)
        session = stopped.session or "" if stopped is not None and agent.resume_command else ""
        briefing = self._briefing(task, workspace, earlier)
        briefing = replace(briefing, handover=handover, stopped=_stop(stopped, in_session=bool(session)))
        fence = fence_for(
            self.settings, workspace.tree, workspace.folder / SCRATCH, self.environ, own=agent.state, agent=True
        )
        return RunSpec(
            run_id=run.id,
            folder=self.runs / str(run.id),
            argv=in_session(agent.resume_command, session) if session else agent.command,
            cwd=workspace.tree,
            env=self._environment(workspace.tree, agent, {"RECALL_RUN_ID": str(run.id)} | _temporary(fence)),
            fence=fence,
            prompt=build_prompt(task, briefing),
            prompt_mode=agent.prompt,
            slot=workspace.folder,
            token=self.rng.token(32),
            task=str(task.ref),
            agent=run.agent,
            lease=self._lease(run),
            timeout=task.timeout_s or limits.timeout,
            stall=limits.stall,
            grace=limits.grace,
            after_report=limits.after_report,
            transcript_cap=limits.transcript_cap,
        )

    def command_run(self, name: str, command: str, cwd: Path, timeout: float) -> RunSpec:
        """Give the spec of a set-up or verification command."""
        folder = self.runs / name
        fence = fence_for(self.settings, cwd, folder / SCRATCH, self.environ, agent=False)
        return RunSpec(  # noqa: S604 - the user's own shell command from recall.toml, run by the shim
            run_id=0,
            folder=folder,
            argv=(command,),
            cwd=cwd,
            env=self._environment(cwd, None, _temporary(fence)),
            fence=fence,
            shell=True,
            timeout=timeout,
            grace=self.settings.run.grace,
            transcript_cap=self.settings.run.transcript_cap,
        )

    def _agent(self, name: str) -> AgentSettings:
        agent = self.settings.agent(name)
        if agent is None:
            known = ", ".join(one.name for one in self.settings.agents) or "none"
            raise ConfigError(f"agent {name} is not in {self.settings.file} (it has: {known}); add it or requeue")
        return agent

    def _lease(self, run: Run) -> LeaseSpec:
        lease = self.settings.lease
        return LeaseSpec(run.region, run.task, run.owner, run.version, lease.ttl, lease.heartbeat, self.contract)

    def _environment(self, cwd: Path, agent: AgentSettings | None, extra: Mapping[str, str]) -> dict[str, str]:
        passed = [*self.settings.env_pass, *(agent.env_pass if agent else ())]
        own = {**(agent.env if agent else {}), **extra}
        user = self.settings.sandbox.user
        seen = seen_by(account_of(user), self.environ) if user else self.environ
        return agent_environment(seen, cwd=cwd, passed=passed, extra=own, unset=agent.env_unset if agent else ())

    def _briefing(self, task: Task, workspace: Workspace, earlier: Sequence[Run]) -> Briefing:
        done = [(ref, found.title) for ref in task.prerequisites if (found := self.find(ref)) is not None]
        told = [run for run in earlier if run.result not in _SILENT and run.result is not None and not run.answer]
        return Briefing(
            program=self.program,
            slot=workspace.folder,
            main=self.settings.main,
            verify=task.verify or self.settings.verify,
            group=self.find(TaskRef(task.region, task.parent)) if task.parent else None,
            done=done,
            earlier=[Attempt(run.number, run.agent, str(run.result), run.reason) for run in told],
            answers=[Answer(run.agent, run.reason, run.answer) for run in earlier if run.answer],
            protected=(
                *(one.path for one in self.settings.tasks),
                self.settings.file.name,
                *self.settings.merge.protected,
            ),
            receipts=self.settings.sandbox_level == "none",
        )


def _temporary(fence: Fence | None) -> dict[str, str]:
    return {"TMPDIR": str(fence.scratch.absolute())} if fence is not None else {}


def in_session(command: Sequence[str], session: str) -> tuple[str, ...]:
    """Fill a session's id into a command that continues one."""
    return tuple(word.replace("{id}", session) for word in command)


def _stop(stopped: Run | None, *, in_session: bool) -> Stop | None:
    return None if stopped is None else Stop(stopped.reason, answered=bool(stopped.answer), in_session=in_session)
