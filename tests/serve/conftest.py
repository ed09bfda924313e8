"""A repository with two agents and a short list, served, and a browser that may be pointed at it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.serve.served import Served, serving
from tests.support.browser import Browser, Person, browsing
from tests.support.builders import spec
from tests.support.driver import Shop, shop_in


def two_tasks(folder: Path) -> AbstractContextManager[Shop]:
    return shop_in(folder, spec("T-1", title="First"), spec("T-2", title="Second"))


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Iterator[Shop]:
    with two_tasks(tmp_path) as shop:
        yield shop


@pytest.fixture
def served(shop: Shop) -> Iterator[Served]:
    with serving(shop.repo.path) as served:
        yield served


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def person(browser: Browser) -> Iterator[Person]:
    person = browser.person()
    yield person
    person.leave()
