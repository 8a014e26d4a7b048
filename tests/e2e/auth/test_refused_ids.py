"""A JSON-RPC request that is refused for who calls is answered under its own id."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.agents.peers import Keys
from tests.e2e.auth.provider import Provider, provider
from tests.e2e.wire.ways import served
from utils.testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

ASKED = {"jsonrpc": "2.0", "id": "mine", "method": "ListTasks", "params": {"tenant": "elsewhere"}}


class Door:
    def __init__(self, url: str, idp: Provider, http: httpx.AsyncClient) -> None:
        self._url, self._idp, self._http = url, idp, http

    async def asked(self, content: Any, **claims: Any) -> tuple[int, Any]:
        """Status and id of the answer to a body; without claims it comes from nobody who is known."""
        headers = {"A2A-Version": "1.0", "Content-Type": "application/json"}
        if claims:
            headers["Authorization"] = f"Bearer {self._idp.token(Keys.name, **claims)}"
        answer = await self._http.post(f"{self._url}/", content=content, headers=headers)
        assert "error" in answer.json()
        return answer.status_code, answer.json()["id"]


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[Door]:
    async with provider() as idp, httpx.AsyncClient(trust_env=False) as http:
        environ = {"AUTH_MODE": "oidc", "AUTH_ISSUERS": idp.issuer(), "AUTH_TENANT_CLAIM": "tenant"}
        async with served(Keys, ScriptedModel.of(), tmp_path, EMBEDDINGS_PROVIDER="none", **environ) as agent:
            yield Door(agent.url, idp, http)


@pytest.mark.parametrize(
    ("claims", "status"),
    [({}, 401), ({"scope": "agent:other:use"}, 403), ({"tenant": "here"}, 403)],
    ids=["nobody who is known", "one who may not use the agent", "one of another tenant"],
)
async def test_who_is_refused_is_answered_under_the_id_of_the_request(
    door: Door, claims: dict[str, str], status: int
) -> None:
    assert await door.asked(json.dumps(ASKED), **claims) == (status, "mine")


async def test_a_stranger_whose_id_cannot_be_told_from_a_small_body_is_answered_without(door: Door) -> None:
    async def in_chunks() -> AsyncIterator[bytes]:
        yield json.dumps(ASKED).encode()

    large = json.dumps({**ASKED, "params": {"pageToken": "x" * 70_000}})
    for content in (large, in_chunks(), "", "{", json.dumps([ASKED]), json.dumps({**ASKED, "id": 1.5})):
        assert await door.asked(content) == (401, None)
