"""The extension for conversations over every binding, and to whom it answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from a2a.utils.errors import InvalidParamsError, MethodNotFoundError, TaskNotFoundError

from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.auth.house import house
from tests.e2e.conversations.asking import URI, asked
from tests.e2e.wire.ways import WAYS, Way, served
from tests.e2e.wire.wiring import message
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("streaming", [True, False])
async def test_conversations_are_listed_renamed_exported_and_deleted(
    tmp_path: Path, way: Way, *, streaming: bool
) -> None:
    async with (
        served(Keys, ScriptedModel.of("One.", "Two."), tmp_path) as agent,
        connected(agent.url) as person,
        agent.client(way, streaming=streaming) as client,
    ):
        first = (await ask(person, "First question?")).context_id
        second = (await ask(person, "Second question?")).context_id
        page = await asked(client, action="list", limit=1)
        (newest,) = page["conversations"]
        assert (newest["contextId"], newest["request"], newest["tasks"], newest["state"]) == (
            second,
            "Second question?",
            1,
            "TASK_STATE_COMPLETED",
        )
        (older,) = (await asked(client, action="list", limit=1, pageToken=page["nextPageToken"]))[
            "conversations"
        ]
        assert (older["contextId"], older["title"]) == (first, "")
        await asked(client, action="rename", contextId=first, title="My  title")
        exported = await asked(client, action="export", contextId=first)
        assert exported["title"] == "My title"
        assert exported["tasks"][0]["history"][0]["parts"][0]["text"] == "First question?"
        assert exported["tasks"][0]["artifacts"][0]["parts"][0]["text"] == "One."
        assert (await asked(client, action="delete", contextId=first))["deleted"] is True
        assert [each["contextId"] for each in (await asked(client, action="list"))["conversations"]] == [
            second
        ]
        # the SDK's client of 0.3 knows HTTP's 404 as this one alone
        gone = MethodNotFoundError if way == Way("HTTP+JSON", "0.3") else TaskNotFoundError
        for action in ("rename", "export", "delete"):
            with pytest.raises(gone):
                await asked(client, action=action, contextId=first, title="")


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        ({"action": "burn"}, "action must be one of"),
        ({"action": "delete"}, "contextId is missing"),
        ({"action": "list", "limit": 0}, "limit must be"),
        ({"action": "list", "pageToken": "?"}, "page token is not valid"),
        ({"action": "rename", "contextId": "c"}, "title is missing"),
        ({"action": "rename", "contextId": "c", "title": "x" * 201}, "at most 200"),
        ({"action": "delete", "contextId": 5}, "contextId must be a text"),
    ],
)
async def test_what_cannot_be_understood_is_refused_with_the_reason(
    payload: dict[str, Any], why: str
) -> None:
    async with running_agent(Keys, model=ScriptedModel.of()) as url, connected(url) as client:
        with pytest.raises(InvalidParamsError, match=why):
            await asked(client, **payload)


async def test_a_conversation_of_somebody_else_is_answered_like_one_that_is_not_there(tmp_path: Path) -> None:
    async with house(tmp_path) as scene:
        door = scene.doors[1]

        async def rpc(sub: str, tenant: str, **fields: Any) -> dict[str, Any]:
            token = scene.provider.token(door.agent, sub=sub, tenant=tenant)
            headers = {"A2A-Version": "1.0", "Authorization": f"Bearer {token}"}
            params = {"message": {**message("hi"), **fields}}
            body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}
            answer: httpx.Response = await scene.http.post(f"{door.url}/", json=body, headers=headers)
            told: dict[str, Any] = answer.json()
            return told

        def about(action: str, context_id: str = "") -> dict[str, Any]:
            return {"parts": [{"data": {URI: {"action": action, "contextId": context_id, "title": "t"}}}]}

        task = (await rpc("ann", "acme"))["result"]["task"]
        for sub, tenant in (("bob", "acme"), ("ann", "other")):
            for action in ("rename", "export", "delete"):
                theirs = await rpc(sub, tenant, **about(action, task["contextId"]))
                none = await rpc(sub, tenant, **about(action, "nobody's"))
                assert theirs["error"] == none["error"]
                assert theirs["error"]["message"] == "There is no such conversation."
            parts = (await rpc(sub, tenant, **about("list")))["result"]["message"]["parts"]
            assert parts[1]["data"][URI]["conversations"] == []
        parts = (await rpc("ann", "acme", **about("delete", task["contextId"])))["result"]["message"]["parts"]
        assert parts[1]["data"][URI]["deleted"] is True
