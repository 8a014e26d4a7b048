"""Answers that fill a form, `answer_schema`: what becomes of a reply that does not, with every provider's client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from a2a.client import Client
from google.protobuf.json_format import MessageToDict
from pydantic import BaseModel

from tests.e2e.agents.peers import Answer, ask, connected
from tests.models.table.responses import REASONING, ended
from utils.a2a_common import BaseLangGraphAgent, agent_tool
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION, ERROR_EXTENSION
from utils.testing.live_agent import running_agent
from utils.testing.strict.servers import Server, stream
from utils.testing.strict_provider import Call, ChatRequest, Reply, StrictProvider, Wire

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
    pytest.mark.asyncio(loop_scope="module"),
]

RESPONSES = "responses"
AS_JSON = ("openai", "anthropic", "aws-bedrock", RESPONSES)
"""Providers that hold the answer to the schema; for the last one the form is a tool."""
AS_TOOL = "google-gemini"
EVERY = (*AS_JSON, AS_TOOL)

GOOD = '{"safe":true,"reason":"Tests are green."}'
HALF = '{"safe":tr'
WRONG = '{"safe":"perhaps"}'

CUT = {"openai": "length", "anthropic": "max_tokens", "aws-bedrock": "max_tokens", AS_TOOL: "MAX_TOKENS"}
FILTERED = {
    "openai": "content_filter",
    "anthropic": "refusal",
    "aws-bedrock": "content_filtered",
    AS_TOOL: "SAFETY",
}

Sent = str | Reply | Wire


class Verdict(BaseModel):
    """Whether a release may go out."""

    safe: bool
    reason: str


class Judge(BaseLangGraphAgent):
    """Judges releases."""

    name = "judge"
    description = "Judges releases."
    answer_schema = Verdict

    @agent_tool(read_only=True, examples=["tests of 1.2"])
    async def tests(self, release: str) -> str:
        """Say whether the tests of a release are green."""
        return f"{release}: green"


Agents = Callable[[str], Awaitable[Client]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def agents(double: StrictProvider, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Agents]:
    """One agent for each provider, started when the first test needs it."""
    started: dict[str, Client] = {}
    async with AsyncExitStack() as stack:

        async def agent_for(provider: str) -> Client:
            if provider not in started:
                home: Path = tmp_path_factory.mktemp("judge")
                environ: Mapping[str, str] = (
                    {**double.environment("openai"), **REASONING}
                    if provider == RESPONSES
                    else double.environment(provider)
                )
                url = await stack.enter_async_context(running_agent(Judge, environ=environ, home=home))
                started[provider] = await stack.enter_async_context(connected(url))
            return started[provider]

        yield agent_for


async def judged(double: StrictProvider, client: Client, *replies: Sent, last: Sent = GOOD) -> Answer:
    left = list(replies)

    def brain(_request: ChatRequest) -> Reply | Wire:
        sent = left.pop(0) if left else last
        return Reply(sent) if isinstance(sent, str) else sent

    double.reset(brain)
    answer = await ask(client, "May 1.2 go out?")
    assert double.rejections == []
    return answer


def ending(provider: str, text: str, kind: str) -> Sent:
    """A reply that is cut off or filtered."""
    if provider == RESPONSES:
        why = {"cut": "max_output_tokens", "filtered": "content_filter"}[kind]
        return ended(("response.output_text.delta", {"delta": text, "logprobs": []}), incomplete=why)
    return Reply(text, reason={"cut": CUT, "filtered": FILTERED}[kind][provider])


def outcome(answer: Answer) -> tuple[str, str, str]:
    """State, code and the text in the end."""
    code = next(iter(answer.metadata(ERROR_EXTENSION)), {"code": ""})["code"]
    return answer.state, str(code), answer.text


def form(answer: Answer) -> Any:
    """What the form was filled with last."""
    artifacts = [each.artifact_update.artifact for each in answer.events if each.HasField("artifact_update")]
    data = [part.data for each in artifacts if each.artifact_id == "answer" for part in each.parts]
    return MessageToDict(data[-1]) if data else None


def retried(answer: Answer) -> list[str]:
    return [
        str(each["reason"]) for each in answer.metadata(ACTIVITY_EXTENSION) if each["kind"] == "model_retried"
    ]


@pytest.mark.parametrize("provider", EVERY)
async def test_json_as_text_fills_the_form_also_in_a_code_fence(
    provider: str, double: StrictProvider, agents: Agents
) -> None:
    client = await agents(provider)
    for text in (GOOD, f"```json\n{GOOD}\n```"):
        answer = await judged(double, client, Reply("", [Call("c1", "tests", {"release": "1.2"})]), text)
        assert outcome(answer) == ("completed", "", text)
        assert form(answer) == {"safe": True, "reason": "Tests are green."}
        assert double.received == 2


@pytest.mark.parametrize("provider", EVERY)
@pytest.mark.parametrize(
    ("kind", "code"), [("empty", "empty_response"), ("cut", "answer_cut"), ("wrong", "reply_unusable")]
)
async def test_a_reply_that_fills_no_form_is_asked_for_once_more(
    kind: str, code: str, provider: str, double: StrictProvider, agents: Agents
) -> None:
    client = await agents(provider)
    bad = {"empty": Reply(""), "wrong": Reply(WRONG)}.get(kind) or ending(provider, HALF, kind)
    answer = await judged(double, client, bad)
    assert (outcome(answer), retried(answer)) == (("completed", "", GOOD), [code])
    assert form(answer) == {"safe": True, "reason": "Tests are green."}

    answer = await judged(double, client, bad, last=bad)
    assert (outcome(answer), retried(answer)) == (("failed", code, ""), [code])
    assert (form(answer), double.received) == (None, 2)


@pytest.mark.parametrize("provider", EVERY)
async def test_a_form_that_the_filter_stopped_fails_and_leaves_no_half_of_it(
    provider: str, double: StrictProvider, agents: Agents
) -> None:
    answer = await judged(double, await agents(provider), ending(provider, HALF, "filtered"))
    assert outcome(answer) == ("failed", "content_filtered", "")
    assert double.received == 1


@pytest.mark.parametrize("provider", ["openai", RESPONSES])
async def test_the_words_of_a_refusal_are_told_where_they_fill_no_form(
    provider: str, double: StrictProvider, agents: Agents
) -> None:
    words = "I cannot help with that."
    refusal = {
        "openai": stream(Server.OPENAI, {"refusal": words}),
        RESPONSES: ended(("response.refusal.done", {"refusal": words})),
    }
    answer = await judged(double, await agents(provider), refusal[provider])
    assert outcome(answer) == ("failed", "content_filtered", "")
    assert answer.last_words == f"The model refused to answer: {words}"


async def test_the_model_is_told_what_is_wrong_with_its_form(double: StrictProvider, agents: Agents) -> None:
    await judged(double, await agents("openai"), WRONG)
    told = double.requests[-1].messages[0].text
    assert "safe: Input should be a valid boolean" in told
    assert "reason: Field required" in told
    assert "perhaps" not in told


async def test_a_form_that_is_called_as_a_tool_with_wrong_values_is_asked_for_once_more(
    double: StrictProvider, agents: Agents
) -> None:
    client = await agents(AS_TOOL)
    wrong = Reply("", [Call("c1", "Verdict", {"safe": "perhaps"})])
    right = Reply("", [Call("c2", "Verdict", {"safe": False, "reason": "Tests are red."})])
    answer = await judged(double, client, wrong, right)
    assert (answer.state, retried(answer)) == ("completed", ["reply_unusable"])
    assert form(answer) == {"safe": False, "reason": "Tests are red."}

    answer = await judged(double, client, wrong, last=wrong)
    assert outcome(answer) == ("failed", "reply_unusable", "")
    assert double.received == 2
