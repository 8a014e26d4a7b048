"""The text of tool results."""

from __future__ import annotations

import json

from utils.messages.results import ToolProblem, dump_result


def test_a_tool_result_is_compact_json() -> None:
    problem = ToolProblem(error="upstream_unavailable", message="Down.", retryable=True)
    text = dump_result(problem)
    told = json.loads(text)
    assert told["message"] == "Down."
    assert text == json.dumps(told, separators=(",", ":"), ensure_ascii=False)
