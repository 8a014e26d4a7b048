"""What HTTP middleware of an agent's own is taken for: authentication only where it sets the user of a request."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware

from tests.e2e.agents.test_own_agents import OnlyFriends
from tests.e2e.auth.own_middleware import ByName, Stamp
from tests.e2e.observability.processes import SERVE, ready, started
from utils.a2a_common.server.http.own_middleware import authenticates

AGENTS = "tests.e2e.auth.own_middleware:"
PLAIN = {"EMBEDDINGS_PROVIDER": "none", "LLM_PROVIDER": "embedded"}
NOT_CALLED_LOOPBACK = {"HOST": "127.1"}
"""Another spelling of 127.0.0.1: the check takes it for an address that others reach, though only this machine does."""


def serve(name: str) -> tuple[str, ...]:
    return (*SERVE, AGENTS + name)


def test_an_agent_that_others_reach_does_not_start_where_its_middleware_only_adds_a_header(
    tmp_path: Path,
) -> None:
    with started(tmp_path, "stamped", serve("Stamped"), {**PLAIN, "HOST": "0.0.0.0"}) as served:
        assert served.process.wait(60) == 2
        said = served.lines[-1]
    assert "AUTH_MODE is not set" in said
    assert "AUTH_MODE=none" in said
    assert "AuthenticationMiddleware or a subclass" in said


@pytest.mark.parametrize(
    ("agent", "mode"), [("Private", {}), ("Stamped", {"AUTH_MODE": "none"})], ids=["knows", "everybody"]
)
async def test_one_that_authenticates_its_callers_starts_and_so_does_one_that_everybody_may_call(
    tmp_path: Path, agent: str, mode: dict[str, str]
) -> None:
    settings = {**PLAIN, **NOT_CALLED_LOOPBACK, **mode}
    with started(tmp_path, agent, serve(agent), settings) as served:
        async with ready(served), httpx.AsyncClient(trust_env=False) as http:
            card = await http.get(f"{served.url}/.well-known/agent-card.json")
        served.stop()
    assert card.headers["x-house"] == "ours"


def test_the_address_of_the_test_above_is_refused_without_authentication(tmp_path: Path) -> None:
    settings = {**PLAIN, **NOT_CALLED_LOOPBACK}
    with started(tmp_path, "stamped", serve("Stamped"), settings) as served:
        assert served.process.wait(60) == 2
        assert "AUTH_MODE is not set" in served.lines[-1]


def test_an_agent_that_authenticates_its_callers_itself_does_not_start_with_a_second_way_to_know_them(
    tmp_path: Path,
) -> None:
    settings = {**PLAIN, "AUTH_MODE": "api-key"}
    with started(tmp_path, "private", serve("Private"), settings) as served:
        assert served.process.wait(60) == 2
        said = served.lines[-1]
    assert "Use one of the two" in said
    assert "AUTH_MODE=none" in said


class Named(AuthenticationMiddleware):
    """A subclass, as a library may bring one."""


@pytest.mark.parametrize(
    ("classes", "counts"),
    [
        ([AuthenticationMiddleware], True),
        ([Named], True),
        ([Stamp, Named], True),
        ([], False),
        ([Stamp], False),
        ([OnlyFriends], False),  # it names nobody: its callers would share their conversations
        ([partial(AuthenticationMiddleware, backend=ByName())], False),  # what a function makes is not known
    ],
)
def test_only_starlettes_middleware_for_authentication_counts_as_such(
    classes: list[Any], counts: bool
) -> None:
    assert authenticates([Middleware(each) for each in classes]) is counts
