"""The tools, fetched on first use."""

from __future__ import annotations

import pytest

from tests.helm.chart import Helm, helm_of
from tests.helm.tools import Tools, tools


@pytest.fixture(scope="session")
def checkers() -> Tools:
    return tools()


@pytest.fixture(scope="session", params=["helm3", "helm4"])
def helm(request: pytest.FixtureRequest, checkers: Tools, tmp_path_factory: pytest.TempPathFactory) -> Helm:
    """Either helm: every test that asks for it runs with both."""
    return helm_of(checkers, request.param, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def helm4(checkers: Tools, tmp_path_factory: pytest.TempPathFactory) -> Helm:
    return helm_of(checkers, "helm4", tmp_path_factory.mktemp("home"))
