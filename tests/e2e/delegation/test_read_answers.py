"""A supervisor and a sub-agent whose models write their calls as text and think aloud."""

from __future__ import annotations

import json

import pytest

from tests.e2e.agents.peers import ask, connected
from tests.e2e.agents.test_delegation import results, team

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


async def test_calls_written_as_text_are_made_at_both_ends_and_no_thought_is_material_or_answer() -> None:
    delegates = json.dumps({"name": "keys", "arguments": {"request": "What is a?"}})
    looks_up = json.dumps({"name": "lookup", "arguments": {"key": "a"}})
    script = [f"```json\n{delegates}\n```", "<think>Keys said so.</think>\nIn short: a is known."]
    keys = [f"<tool_call>\n{looks_up}\n</tool_call>", "<think>It is a secret.</think>\nIt is the value of a."]
    async with team(script, keys=keys) as (url, models, _), connected(url) as client:
        answer = await ask(client, "Tell me about a")
    assert results(models["keys"], 1) == ["the value of a"]
    assert results(models["supervisor"], 1) == ["It is the value of a."]
    assert answer.state == "completed"
    assert "".join(text for _, _, text in answer.chunks) == "In short: a is known."
