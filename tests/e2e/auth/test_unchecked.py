"""Where nobody can be checked, callers are told so, and not that their credentials are wrong."""

from __future__ import annotations

import json
import time
from pathlib import Path

import httpx
import pytest

from tests.e2e.auth.bindings import BINDINGS, Door
from tests.e2e.auth.cases import bearer
from tests.e2e.auth.people import Desk
from tests.e2e.auth.provider import provider
from tests.e2e.wire.ways import served
from utils.auth.api_keys import ApiKey, KeyFile, new_key
from utils.auth.authenticator import UNCHECKED, Authenticator
from utils.auth.jwks import DOWN_SECONDS
from utils.testing.scripted_model import ScriptedModel

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(300)]


async def ready(door: Door, http: httpx.AsyncClient) -> tuple[int, str]:
    answer = await http.get(f"{door.url}/readyz")
    return answer.status_code, answer.json()["detail"]


async def test_while_a_provider_is_out_its_tokens_are_answered_with_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = 0.0
    defaults = Authenticator.__init__.__kwdefaults__ or {}
    monkeypatch.setitem(defaults, "ticks", lambda: time.monotonic() + ahead)
    async with provider() as idp, httpx.AsyncClient(trust_env=False, timeout=60) as http:
        environ = {"AUTH_MODE": "oidc", "AUTH_ISSUERS": idp.issuer(), "EMBEDDINGS_PROVIDER": "none"}
        async with served(Desk, ScriptedModel.of(), tmp_path, **environ) as agent:
            door = Door(Desk.name, agent.url, agent.grpc_port)
            sent = bearer(idp.token(Desk.name))
            idp.out = True
            for binding in BINDINGS:
                told = await door.knock(binding, sent, http)
                assert told.status == 503, (binding, told)
                assert "cannot be checked right now" in told.body
            assert await ready(door, http) == (200, UNCHECKED)
            unknown = await door.knock("REST", bearer("none"), http)
            assert unknown.status == 401, "what proves nothing at all is refused all the same"
            idp.out = False
            ahead = DOWN_SECONDS + 1
            assert (await door.knock("gRPC", sent, http)).status == 200
            assert await ready(door, http) == (200, "")


async def test_while_the_file_of_keys_is_damaged_callers_are_told_when_to_come_again(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    secret, key = new_key(ApiKey("ann", "", ("agent:desk:use",)))
    KeyFile(path).add(key)
    whole = path.read_text()
    environ = {"AUTH_MODE": "api-key", "AUTH_KEYS_FILE": str(path), "EMBEDDINGS_PROVIDER": "none"}
    async with (
        httpx.AsyncClient(trust_env=False, timeout=60) as http,
        served(Desk, ScriptedModel.of(), tmp_path / "data", **environ) as agent,
    ):
        headers = {"Authorization": f"Bearer {secret}", "A2A-Version": "1.0"}
        path.write_text('{"half')
        answer = await http.get(f"{agent.url}/rest/tasks", headers=headers)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
        assert "cannot be checked right now" in json.dumps(answer.json())
        path.write_text(whole)
        assert (await http.get(f"{agent.url}/rest/tasks", headers=headers)).status_code == 200
