"""The core of the wire: every binding answers."""

import httpx

from tests.e2e.wire.agents import Scripted, card, echo
from utils.a2a_common.scope import owner_of
from utils.a2a_common.server import AgentService, build_app
from utils.persistence.tasks import memory_task_store
from utils.settings import ServerSettings
from utils.testing.live_server import running

SEND = {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}}


async def test_json_rpc_and_rest_answer_the_same_message():
    service = AgentService(card=card(), executor=Scripted(echo), store=memory_task_store(owner_of))
    async with running(build_app(service, ServerSettings.load({}))) as url, httpx.AsyncClient() as client:
        client.headers["A2A-Version"] = "1.0"
        call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": SEND}
        rpc = (await client.post(f"{url}/", json=call)).json()["result"]["task"]
        rest = (await client.post(f"{url}/rest/message:send", json=SEND)).json()["task"]
    for task in (rpc, rest):
        assert task["status"]["state"] == "TASK_STATE_COMPLETED"
        assert task["artifacts"][0]["parts"] == [{"text": "hi"}]
