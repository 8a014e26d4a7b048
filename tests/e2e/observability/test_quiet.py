"""Libraries under an agent do not fill its log."""

from __future__ import annotations

import asyncio
import os

import httpx
import pytest

from tests.e2e.observability.processes import ROOT, SUPERVISOR, ready, started
from tests.e2e.wire.wiring import HEADERS, message
from tests.preloaded import process as preloaded

CALL = """
from langchain_core.messages import HumanMessage
from utils.llm.factory import create_chat_model
from utils.observability.logging import configure_logging
from utils.observability.settings import LogSettings
from utils.settings import LLMSettings
from utils.testing.strict_provider import ScriptedBrain, run_strict_provider

configure_logging(LogSettings.load({}), agent="quiet")
with run_strict_provider(ScriptedBrain(["Hello."])) as provider:
    model = create_chat_model(LLMSettings.load(provider.environment("openai")))
    print(model.invoke([HumanMessage("Hi")]).text)
"""


async def test_a_model_call_writes_no_line_of_its_http_client() -> None:
    """In a process of its own, since the log belongs to the process."""
    process = await preloaded.start(
        ("-c", CALL),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, log = await process.communicate()
    assert out.decode().strip() == "Hello.", log.decode()
    assert "HTTP Request" not in log.decode()


@pytest.mark.parametrize("command", [SUPERVISOR, ("-m", "agents.rag")])
@pytest.mark.long
async def test_the_fullest_log_holds_nothing_of_what_a_user_wrote(tmp_path, command) -> None:
    alone = {"SUB_AGENTS": "keys=http://127.0.0.1:1", "SUB_AGENT_WAIT_SECONDS": "0"}
    settings = {"LOG_LEVEL": "DEBUG", "RAG_SOURCES": "none", **alone}
    with started(tmp_path, "agent", command, settings) as served:
        async with ready(served), httpx.AsyncClient(trust_env=False, timeout=60) as http:
            for text in (
                "My secret word is ALPHA42.",
                "Find the documents on ALPHA42 and ask the keys agent.",
            ):
                body = {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "method": "SendMessage",
                    "params": {"message": message(text)},
                }
                answer = await http.post(f"{served.url}/", json=body, headers=HEADERS)
                assert "result" in answer.json(), answer.text
            wrong = {"message": {**message(""), "parts": {"text": "ALPHA42"}}}
            body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": wrong}
            answer = await http.post(f"{served.url}/", json=body, headers=HEADERS)
            assert answer.json()["error"]["code"] == -32602
            answer = await http.post(f"{served.url}/rest/message:send", json=wrong, headers=HEADERS)
            assert answer.status_code == 400
        served.stop()
        log = served.log.read_text()
    assert "turn.ended" in log
    assert "ALPHA42" not in log
