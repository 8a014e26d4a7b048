"""At LOG_LEVEL=DEBUG a turn of a real model client through supervisor and agent leaves none of the user's words in a log."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.e2e.observability.processes import KEYS, SUPERVISOR, ready, started
from tests.e2e.wire.wiring import HEADERS, message
from utils.testing.strict.conversation import Call, ChatRequest, Reply
from utils.testing.strict.faults import Fault
from utils.testing.strict_provider import run_strict_provider

WORDS = ("ALPHA42", "BRAVO43", "CHARLIE44")
"""What the user says, what the model says, and what the model writes into a call."""

REFUSED = "DELTA45"
"""In a message that the provider refuses, with an error that quotes it, as servers that check requests with pydantic do."""


def brain(request: ChatRequest) -> Reply | Fault:
    last, names = request.messages[-1], {tool.name for tool in request.tools}
    if REFUSED in last.text:
        return Fault.refusing(f"1 validation error: messages.1.content [input={last.text!r}]")
    if last.role == "tool":
        return Reply(f"It is {WORDS[1]}.")
    if "keys" in names:
        return Reply("", [Call("c1", "keys", {"request": f"Look up {last.text} and {WORDS[2]}."})])
    return Reply("", [Call("c2", "lookup", {"key": WORDS[2]})])


@pytest.mark.parametrize("binding", ["SendMessage", "SendStreamingMessage"])
@pytest.mark.long
async def test_a_turn_through_supervisor_and_agent_leaves_no_word_in_a_log(
    tmp_path: Path, binding: str
) -> None:
    with run_strict_provider(brain) as provider:
        settings = {**provider.environment("openai"), "LOG_LEVEL": "DEBUG", "EMBEDDINGS_PROVIDER": "none"}
        with started(tmp_path, "keys", KEYS, settings) as keys:
            async with ready(keys):
                top = settings | {"SUB_AGENTS": f"keys={keys.url}", "SUB_AGENTS_SHARES": "keys=results"}
                with started(tmp_path, "top", SUPERVISOR, top) as supervisor:
                    async with ready(supervisor), httpx.AsyncClient(trust_env=False, timeout=60) as http:
                        params = {"message": message(f"My word is {WORDS[0]}.")}
                        body = {"jsonrpc": "2.0", "id": 1, "method": binding, "params": params}
                        answer = await http.post(f"{supervisor.url}/", json=body, headers=HEADERS)
                        params = {"message": message(f"My word is {REFUSED}.")}
                        refused = await http.post(
                            f"{supervisor.url}/", json=body | {"params": params}, headers=HEADERS
                        )
                    assert WORDS[1] in answer.text
                    assert "TASK_STATE_FAILED" in refused.text
                    supervisor.stop()
            keys.stop()
    logs = [served.log.read_text() for served in (keys, supervisor)]
    assert all("turn.ended" in log for log in logs)
    assert [word for word in (*WORDS, REFUSED) for log in logs if word in log] == []
    assert "status 400" in logs[1]
