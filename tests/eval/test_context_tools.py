"""The tools that read back what was left out, among an agent's own: used when asked, and only then."""

from __future__ import annotations

import pytest

from tests.eval import routing
from tests.eval.routing_tools import tools_of
from tests.support.artifacts import MemoryArtifactStore
from utils.context.tools import TOOL_NAMES, context_tools
from utils.llm.embedded import EmbeddedChatModel


@pytest.fixture(scope="module")
def chat() -> EmbeddedChatModel:
    return routing.model()


@pytest.mark.long
def test_no_request_for_an_agents_own_tools_goes_to_the_tools_that_read_back(
    chat: EmbeddedChatModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = {outcome.id: outcome for outcome in routing.routing_outcomes(chat)}

    def with_ours(agent: str, *, written: bool = False) -> list[object]:
        return [*tools_of(agent, written=written), *context_tools(MemoryArtifactStore())]

    monkeypatch.setattr(routing, "tools_of", with_ours)
    beside = routing.routing_outcomes(chat)
    assert len(beside) > 90
    assert [one.detail for one in beside if not one.routed and alone[one.id].routed] == []
    assert [one.detail for one in beside if any(name in one.detail for name in TOOL_NAMES)] == []


@pytest.mark.parametrize("agent", ["supervisor", "github", "rag"])
@pytest.mark.long
def test_what_was_said_earlier_is_recalled_when_asked_for(chat: EmbeddedChatModel, agent: str) -> None:
    tools = [*tools_of(agent), *context_tools(MemoryArtifactStore())]
    for request in ("What did I say earlier about the team?", "Recall what we decided about the cluster."):
        answer = chat.bind_tools(tools).invoke(request)
        assert [call["name"] for call in answer.tool_calls] == ["recall"]
