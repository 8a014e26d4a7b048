"""A client is told which tool's result its agent saw in part only."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from langchain_core.tools import BaseTool, tool

from tests.e2e.agents.peers import Keys, ask, connected
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


@tool
async def log(lines: int) -> str:
    """Returns a log."""
    return "\n".join(f"line {number} of the log" for number in range(lines))


class Logs(Keys):
    """An agent with long results."""

    name = "logs"

    async def tools(self) -> Sequence[BaseTool]:
        return [log]


async def test_a_result_that_the_model_saw_in_part_is_marked_as_truncated() -> None:
    both = calls(call("log", "c1", lines=5_000), call("log", "c2", lines=2))
    async with running_agent(Logs, model=ScriptedModel.of(both, "Done.")) as url, connected(url) as client:
        answer = await ask(client, "Why did it fail?")
    finished = [each for each in answer.metadata(ACTIVITY_EXTENSION) if each["kind"] == "tool_finished"]
    assert {each["call_id"]: each["truncated"] for each in finished} == {"c1": True, "c2": False}
    assert all(each["seconds"] > 0 for each in finished)
    started = [each for each in answer.metadata(ACTIVITY_EXTENSION) if each["kind"] == "tool_started"]
    assert [each["arguments"] for each in started] == ["lines=5000", "lines=2"]
