"""The tools, fetched on first use."""

from __future__ import annotations

import pytest

from tests.helm.chart import Helm
from tests.helm.tools import Tools, tools


@pytest.fixture(scope="session")
def checkers() -> Tools:
    return tools()


@pytest.fixture(scope="session")
def helms(checkers: Tools, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Helm]:
    """helm 3 and helm 4."""
    home = tmp_path_factory.mktemp("home")
    return {name: Helm(binary, home) for name, binary in checkers.helms.items()}


@pytest.fixture(scope="session", params=["helm3", "helm4"])
def helm(request: pytest.FixtureRequest, helms: dict[str, Helm]) -> Helm:
    """Either helm: every test that asks for it runs with both."""
    return helms[request.param]


@pytest.fixture(scope="session")
def helm4(helms: dict[str, Helm]) -> Helm:
    return helms["helm4"]
