"""Every tool of a server can be called; of more than a provider takes, whoever runs the agent is told which cannot."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
import structlog.testing

from tests.e2e.mcp.conftest import ATTACHED, STDIO, Plain
from tests.e2e.mcp.warehouse import shelf
from utils.errors import ContextBudgetExceeded
from utils.events import Completed
from utils.mcp.servers import MOST_TOOLS
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls


def server(count: int, **more: Any) -> dict[str, Any]:
    return {"stock": {**STDIO, "args": [*ATTACHED, "-m", "tests.e2e.mcp.warehouse", str(count)], **more}}


async def state_of(servers: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """What `/readyz` says, and the card's words on the server."""
    environ = {"MCP_SERVERS": json.dumps(servers), "MCP_START_SECONDS": "30"}
    async with (
        running_agent(Plain, environ=environ, model=ScriptedModel.of()) as url,
        httpx.AsyncClient(trust_env=False) as http,
    ):
        ready: dict[str, Any] = (await http.get(f"{url}/readyz")).json()
        card = (await http.get(f"{url}/.well-known/agent-card.json")).json()
    (skill,) = [skill for skill in card["skills"] if skill["id"] == "mcp_stock"]
    return ready, str(skill["description"])


async def test_all_of_85_tools_are_offered_and_the_last_one_answers(talk):
    chat = await talk(server(85), calls(call("stock_shelf_084")), "It is there.")
    assert isinstance((await chat.ask())[-1], Completed)
    assert chat.last_result().text == "on shelf 84"
    assert len(chat.tool_names() - {"own_tool"}) == 85


async def test_nothing_is_said_where_no_tool_is_left_out():
    ready, card = await state_of(server(85))
    assert ready == {"status": "ready", "detail": "", "without": [], "busy": ""}
    assert "and 73 more." in card


async def test_of_140_tools_those_that_no_provider_would_take_are_named_at_start(talk):
    with structlog.testing.capture_logs() as logged:
        chat = await talk(server(140), "Hello.")
        await chat.ask()
    offered = chat.tool_names() - {"own_tool"}
    assert 110 < len(offered) < MOST_TOOLS
    missing = [shelf(number) for number in range(1, 140) if f"stock_{shelf(number)}" not in offered]
    assert missing
    (told,) = [line for line in logged if line["event"] == "mcp.tools_left_out"]
    assert (told["server"], told["log_level"], told["tools"]) == ("stock", "warning", missing)


async def test_of_140_tools_readiness_and_card_tell_those_that_are_left_out():
    ready, card = await state_of(server(140))
    assert ready["status"] == "ready"
    assert ready["detail"].startswith("21 of 140 tools of the MCP server stock are left out (shelf_119, ")
    assert ready["detail"].endswith("shelf_139); its setting `tools` chooses")
    assert "and 107 more." in card


async def test_the_setting_chooses_which_tools_are_offered(talk):
    names = [shelf(139), shelf(138), "no_such_tool"]
    with structlog.testing.capture_logs() as logged:
        chat = await talk(server(140, tools=names), calls(call("stock_shelf_139")), "It is there.")
        await chat.ask()
    assert chat.last_result().text == "on shelf 139"
    assert chat.tool_names() == {"own_tool", "stock_shelf_138", "stock_shelf_139"}
    (told,) = [line for line in logged if line["event"] == "mcp.tools_unknown"]
    assert told["tools"] == ["no_such_tool"]


async def test_servers_share_what_a_provider_takes_in_their_order(talk):
    two = server(85) | {"other": server(85)["stock"]}
    chat = await talk(two, "Hello.")
    await chat.ask()
    offered = chat.tool_names()
    assert len([name for name in offered if name.startswith("stock_")]) == 85
    assert 0 < len([name for name in offered if name.startswith("other_")]) < 85
    assert len(offered) < MOST_TOOLS


async def test_more_tools_than_the_window_has_room_for_end_the_turn_with_the_numbers(talk):
    chat = await talk(server(85), "Hello.", MAX_CONTEXT_TOKENS="4096")
    with pytest.raises(ContextBudgetExceeded, match="tools"):
        await chat.ask()
