"""`GET /page/caller`: by it the page keeps what one person wrote from the next one who logs in in the same tab."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.agents.peers import Keys
from tests.e2e.auth.own_middleware import Private
from utils.auth.api_keys import ApiKey, KeyFile, new_key
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.servers


async def asked(url: str, credential: str = "", user: str = "") -> httpx.Response:
    sent = {"Authorization": credential, "X-Checked-User": user}
    headers = {name: value for name, value in sent.items() if value}
    async with httpx.AsyncClient(trust_env=False) as http:
        return await http.get(f"{url}/page/caller", headers=headers)


def serving(home: Path, agent: Any = Keys, **environ: str) -> Any:
    own = {"EMBEDDINGS_PROVIDER": "none", **environ}
    return running_agent(agent, environ=own, model=ScriptedModel.of("x"), home=home)


async def test_the_same_person_has_the_same_caller_with_each_of_their_keys_and_others_have_another(
    tmp_path: Path,
) -> None:
    keys = KeyFile(tmp_path / "keys.json")

    def add(name: str, tenant: str = "") -> str:
        made, stored = new_key(ApiKey(name, tenant, ("agent:keys:use",)))
        keys.add(stored)
        return f"Bearer {made}"

    callers = {}
    async with serving(tmp_path, AUTH_MODE="api-key") as url:
        for name, tenant in (("ann", ""), ("bob", ""), ("bob2", "acme")):
            answer = await asked(url, add(name, tenant))
            assert answer.headers["cache-control"] == "no-store"
            callers[name] = answer.json()["caller"]
            assert name not in callers[name]
        keys.remove("ann")
        assert (await asked(url, add("ann"))).json() == {"caller": callers["ann"]}
        assert (await asked(url)).status_code == 401
    assert "" not in callers.values()
    assert len(set(callers.values())) == len(callers)


async def test_callers_whom_an_agent_does_not_know_are_one(tmp_path: Path) -> None:
    async with serving(tmp_path) as url:
        for credential in ("", "Bearer whatever"):
            assert (await asked(url, credential)).json() == {"caller": ""}


async def test_whom_an_agents_own_middleware_names_is_the_caller(tmp_path: Path) -> None:
    async with serving(tmp_path, Private) as url:
        told = [(await asked(url, user=user)).json()["caller"] for user in ("", "ann", "ann", "bob")]
    assert told[0] == ""
    assert told[1] == told[2]
    assert len(set(told)) == 3
