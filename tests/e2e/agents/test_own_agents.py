"""An agent with a graph, state, answers, questions and HTTP middleware of its own, over the wire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

import httpx
import pytest
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.test_delegation import until_ready
from tests.e2e.agents.test_own_state import Shop
from tests.support.graphs import of_the_agent_alone
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.own.parts import GraphParts
from utils.a2a_common.graph.questions.asked_by_tools import ask_user
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.graph.tools.agent_tool import agent_tool
from utils.a2a_common.graph.tools.events import publish
from utils.a2a_common.protocol.request import AgentRequest
from utils.context.state import ContextState
from utils.errors import SettingsError
from utils.events import ArtifactAdded, FileBytes, StatusText
from utils.testing.contract.client import client_of, state_of, text_of
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import Script, ScriptedModel, call, calls


class TicketState(ContextState):
    """Whether a ticket is urgent, beside the conversation."""

    urgent: NotRequired[bool]


class Triage(BaseLangGraphAgent):
    """An agent whose own graph decides what the model is told, and signs what it says."""

    name = "triage"
    description = "Handles tickets."

    @agent_tool(examples=["Who owns T-1?"])
    async def owner(self, ticket: str) -> str:
        """Tell who owns a ticket."""
        return f"{ticket} belongs to {ask_user('Which team?').text}"

    async def graph(self, parts: GraphParts) -> StateGraph[Any, Any, Any, Any]:
        """First urgency, then the agent, then a signature."""

        def urgency(state: Any) -> dict[str, Any]:
            return {"urgent": "down" in str(state["messages"][-1].content)}

        def sign(state: Any) -> dict[str, Any]:
            said = str(state["messages"][-1].content)
            return {"messages": [AIMessage(f"{said} (urgent)" if state["urgent"] else f"{said} (can wait)")]}

        graph: StateGraph[Any, Any, Any, Any] = StateGraph(TicketState, context_schema=AgentRequest)
        graph.add_node("urgency", urgency)
        graph.add_node("agent", parts.agent)
        graph.add_node("sign", sign)
        graph.add_edge(START, "urgency")
        graph.add_edge("urgency", "agent")
        graph.add_edge("agent", "sign")
        graph.add_edge("sign", END)
        return graph


def scripted(script: Script) -> ScriptedModel:
    return ScriptedModel(script=script)


async def test_an_own_graph_answers_and_keeps_the_conversation() -> None:
    model = scripted(["A human looks at it.", "It is known."])
    async with running_agent(Triage, model=model) as url, client_of(url) as client:
        first = await client.ask("The site is down.")
        second = await client.ask("And the blog?", context_id=first.task["contextId"])
        stored = await client.get(first.task["id"])
    assert first.text == text_of(stored) == "A human looks at it. (urgent)"
    assert second.text == "It is known. (can wait)"
    assert [str(m.content) for m in model.requests[-1].messages][1:] == [
        "The site is down.",
        "A human looks at it.",
        "A human looks at it. (urgent)",
        "And the blog?",
    ]


async def test_a_tool_of_an_own_graph_asks_and_goes_on_with_the_answer() -> None:
    model = scripted([calls(call("owner", ticket="T-1")), "The web team."])
    async with running_agent(Triage, model=model) as url, client_of(url) as client:
        asked = await client.ask("Who owns T-1?")
        question = asked.events[-1]["statusUpdate"]["status"]["message"]["parts"][0]["text"]
        answered = await client.ask("web", context_id=asked.task["contextId"], task_id=asked.task["id"])
    assert (asked.states[-1], question) == ("input_required", "Which team?")
    assert answered.states[-1] == "completed"
    assert answered.text == "The web team. (can wait)"
    assert "T-1 belongs to web" in str(model.requests[-1].messages)


async def test_a_question_of_an_own_graph_that_is_left_open_does_not_stop_the_conversation() -> None:
    model = scripted([calls(call("owner", ticket="T-1")), "Hello."])
    async with running_agent(Triage, model=model) as url, client_of(url) as client:
        asked = await client.ask("Who owns T-1?")
        other = await client.ask("Hello!", context_id=asked.task["contextId"])
        left = await client.get(asked.task["id"])
    assert (other.states[-1], other.text) == ("completed", "Hello. (can wait)")
    assert state_of(left) == "canceled"


async def test_an_own_graph_keeps_its_requests_within_the_window() -> None:
    facts = ["Fact " + "about the cluster " * 400] * 12
    model = scripted(lambda _: "Noted.")
    environ = {"MAX_CONTEXT_TOKENS": "8000", "LLM_MAX_TOKENS": "500", "CONTEXT_PINS_MODEL": "none"}
    async with running_agent(Triage, model=model, environ=environ) as url, client_of(url) as client:
        context_id = None
        for fact in facts:
            seen = await client.ask(fact, **({"context_id": context_id} if context_id else {}))
            context_id = seen.task["contextId"]
            assert seen.states[-1] == "completed"
    sizes = [sum(len(str(m.content)) for m in request.messages) for request in model.requests]
    assert max(sizes) < 8_000 * 5
    assert sum(map(len, facts)) > 8_000 * 9


async def test_a_graph_without_the_agent_in_it_is_refused_with_a_sentence(tmp_path: Any) -> None:
    class Lost(Triage):
        """Forgot its agent."""

        name = "lost"

        async def graph(self, parts: GraphParts) -> StateGraph[Any, Any, Any, Any]:
            """A graph of one node."""
            graph: StateGraph[Any, Any, Any, Any] = StateGraph(ContextState)
            graph.add_node("alone", lambda _: {})
            graph.add_edge(START, "alone")
            return graph

    settings = AgentSettings.load({})
    runtime = AgentRuntime(home=tmp_path, settings=settings, model=scripted([]), checkpointer=InMemorySaver())
    with pytest.raises(
        SettingsError, match=r"^The graph of the agent lost has no node that is parts\.agent\.$"
    ):
        await Lost(runtime).build()


class Ticket(TypedDict):
    """Keeps no messages."""

    urgent: bool


class Overwritten(TypedDict):
    """Keeps the last messages only."""

    messages: list[AnyMessage]


@pytest.mark.parametrize(
    ("state", "wrong"),
    [(Ticket, "no key `messages`"), (Overwritten, "a key `messages` without a reducer")],
)
async def test_a_graph_whose_state_cannot_keep_the_conversation_is_refused_before_the_first_request(
    state: type[Any], wrong: str, tmp_path: Any
) -> None:
    class Forgetful(Triage):
        """Keeps no conversation."""

        name = "forgetful"

        async def graph(self, parts: GraphParts) -> StateGraph[Any, Any, Any, Any]:
            """The agent alone, over a state of its own."""
            return of_the_agent_alone(parts, state)

    runtime = AgentRuntime(
        home=tmp_path, settings=AgentSettings.load({}), model=scripted([]), checkpointer=InMemorySaver()
    )
    with pytest.raises(SettingsError) as refused:
        await Forgetful(runtime).build()
    assert refused.value.message == (
        f"The state of the graph of the agent forgetful has {wrong}: let it extend ContextState of "
        "utils/context/state.py, which keeps the conversation (docs/agent-reference.md#a-graph-of-your-own)."
    )


class Verdict(BaseModel):
    """Whether a release may go out."""

    safe: bool
    reason: str


class Release(BaseLangGraphAgent):
    """An agent whose answers fill a form."""

    name = "release"
    description = "Judges releases."
    answer_schema = Verdict


async def test_an_answer_that_fills_a_schema_is_a_data_artifact() -> None:
    model = scripted([calls(call("Verdict", safe=False, reason="Tests are red."))])
    async with running_agent(Release, model=model) as url, client_of(url) as client:
        seen = await client.ask("May 1.2 go out?")
        stored = await client.get(seen.task["id"])
    assert seen.states[-1] == "completed"
    (verdict,) = [one for one in stored["artifacts"] if one.get("name") == "Verdict"]
    assert verdict["parts"][0]["data"] == {"safe": False, "reason": "Tests are red."}
    assert "Tests are red." in seen.text


class Reports(BaseLangGraphAgent):
    """An agent whose tools return a file and ask before they change something."""

    name = "reports"
    description = "Writes reports."
    deleted: list[str]

    async def start(self) -> None:
        """Open what the tools use."""
        self.deleted = DELETED

    @agent_tool()
    async def report(self) -> str:
        """Write the report."""
        publish(StatusText("Writing the report."))
        publish(ArtifactAdded([FileBytes(b"%PDF-1.7", "report.pdf", "application/pdf")], name="report"))
        return "The report is written."

    @agent_tool(approval="delete a report")
    async def delete(self, name: str) -> str:
        """Delete a report."""
        self.deleted.append(name)
        return "Deleted."


DELETED: list[str] = []


async def test_a_tool_publishes_a_file_and_says_what_it_does() -> None:
    model = scripted([calls(call("report")), "Here it is."])
    async with running_agent(Reports, model=model) as url, client_of(url) as client:
        seen = await client.ask("The report, please.")
        stored = await client.get(seen.task["id"])
    (report,) = [one for one in stored["artifacts"] if one.get("name") == "report"]
    assert report["parts"][0]["filename"] == "report.pdf"
    assert "Writing the report." in str(seen.events)
    assert seen.text == "Here it is."


@pytest.mark.parametrize(("answer", "deleted"), [("yes", ["q3"]), ("well, maybe yes", []), ("no", [])])
async def test_a_tool_that_needs_approval_runs_after_an_explicit_yes_only(
    answer: str, deleted: list[str]
) -> None:
    DELETED.clear()
    model = scripted([calls(call("delete", name="q3")), "So be it."])
    async with running_agent(Reports, model=model) as url, client_of(url) as client:
        asked = await client.ask("Delete q3.")
        message = asked.events[-1]["statusUpdate"]["status"]["message"]
        question, proof = message["parts"][0]["text"], message["metadata"]
        assert DELETED == []
        where = {"context_id": asked.task["contextId"], "task_id": asked.task["id"]}
        done = await client.ask(answer, metadata=proof, **where)
    assert asked.states[-1] == "input_required"
    assert "May I delete a report?" in question
    assert '"name": "q3"' in question
    assert done.states[-1] == "completed"
    assert deleted == DELETED


class OnlyFriends:
    """Refuses requests without a password."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (b"x-friend", b"yes") not in scope["headers"]:
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await self.app(scope, receive, send)


class Guarded(BaseLangGraphAgent):
    """An agent behind a middleware of its own."""

    name = "guarded"
    description = "Answers friends."

    def http_middleware(self) -> Sequence[Middleware]:
        """Friends only."""
        return [Middleware(OnlyFriends)]


async def test_http_middleware_of_an_agent_stands_before_its_requests() -> None:
    async with (
        running_agent(Guarded, model=scripted(["Hello."])) as url,
        httpx.AsyncClient(trust_env=False) as http,
    ):
        card = f"{url}/.well-known/agent-card.json"
        refused = await http.get(card)
        taken = await http.get(card, headers={"x-friend": "yes"})
    assert (refused.status_code, taken.status_code) == (401, 200)


async def test_the_card_of_an_agent_without_skills_offers_its_tools() -> None:
    async with running_agent(Triage, model=scripted([])) as url, client_of(url) as client:
        card = await client.card()
    (skill,) = card["skills"]
    assert (skill["id"], skill["examples"]) == ("owner", ["Who owns T-1?"])
    assert skill["description"] == "Tell who owns a ticket."


class DataOps(PlatformEngineer):
    """An agent that delegates, with a tool of its own."""

    name = "dataops"
    description = "Answers questions about data pipelines."
    role = "the data engineer on duty: you answer questions about pipelines, and delegate the rest."
    skills = ()

    @agent_tool(examples=["Which pipelines are late?"])
    async def late_pipelines(self) -> list[dict[str, str]]:
        """List the pipelines that are late."""
        return [{"pipeline": "billing"}]


async def test_an_agent_that_delegates_has_tools_of_its_own_beside_its_sub_agents() -> None:
    shop = scripted([calls(call("put", thing="tea")), "It is in the basket."])
    lead = scripted(
        [calls(call("late_pipelines"), call("shop", request="Put tea aside.")), "billing is late."]
    )
    async with running_agent(Shop, model=shop) as below:
        environ = {"SUB_AGENTS": f"shop={below}", "SUB_AGENTS_SHARES": "shop=nothing"}
        async with running_agent(DataOps, model=lead, environ=environ) as url, client_of(url) as client:
            await until_ready(url)
            seen = await client.ask("What is late? And put tea aside.")
    assert seen.text == "billing is late."
    results = [str(m.content) for m in lead.requests[-1].messages if isinstance(m, ToolMessage)]
    assert "billing" in results[0]
    assert results[1] == "It is in the basket."
    assert lead.requests[0].messages[0].text.startswith("You are the data engineer on duty")
