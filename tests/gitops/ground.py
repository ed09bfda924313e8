"""The git side put together for a test: real repository, real gateway, a clock that stands still."""

from __future__ import annotations

from pathlib import Path

from recall.config.settings import Settings
from recall.domain.clock import Instant
from recall.domain.task import TaskRef
from recall.domain.work import CollectOutcome, PersonNeeded, Result, Workspace
from recall.gitops.gateway import GitGateway
from recall.gitops.locate import locate
from recall.system import SystemRng
from tests.support.hermetic_git import START, Repo

NOW = START + 1_000_000
TASK = TaskRef("main", "T-1")


class FixedClock:
    def now(self) -> Instant:
        return Instant("boot", 1.0, float(NOW))


def settings_for(repo: Repo) -> Settings:
    return Settings(file=repo.path / "recall.toml", main="main", verify="true")


def gateway_for(repo: Repo, settings: Settings | None = None, start: Path | None = None) -> GitGateway:
    """A gateway that is ready for work."""
    gateway = GitGateway(locate(start or repo.path), settings or settings_for(repo), FixedClock(), SystemRng())
    gateway.prepare()
    return gateway


class Ground:
    """A gateway with one run's workspace open in it; `agent` works there."""

    def __init__(self, repo: Repo, settings: Settings | None = None) -> None:
        self.repo = repo
        self.gateway = gateway_for(repo, settings)
        self.workspace: Workspace = self.gateway.open_workspace(TASK, 1, 7)
        self.agent = Repo(self.workspace.tree)

    def collect(self) -> CollectOutcome:
        return self.gateway.collect(self.workspace, 7, "Do the thing")

    def collect_regardless(self) -> CollectOutcome:
        """Collect without asking whether the run changed what it shares with others."""
        agent = self.gateway.git_dir_of(self.workspace)
        return self.gateway.collector.collect(self.workspace, agent, 7, "t")

    def result(self) -> Result:
        outcome = self.collect()
        assert isinstance(outcome, Result), outcome
        return outcome

    def refusal(self) -> PersonNeeded:
        outcome = self.collect()
        assert isinstance(outcome, PersonNeeded), outcome
        return outcome

    def see(self) -> Repo:
        """The integration repository, to look at what came in."""
        return Repo(self.gateway.integration.git_dir)
