"""Real clients talk to the double, whole and streamed, plain and asynchronous."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import httpx
import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool

from utils.embeddings import create_embedder
from utils.llm.factory import create_chat_model
from utils.messages.tokens import count_messages_tokens, count_tools_tokens
from utils.settings import EmbeddingSettings, LLMSettings
from utils.testing.scripted_model import ScriptedModel, call, calls
from utils.testing.strict_provider import (
    Brain,
    BrainError,
    Call,
    Fault,
    FaultKind,
    Reply,
    RoutingBrain,
    ScriptedBrain,
    ScriptExhaustedError,
    StrictProvider,
    run_strict_provider,
)

PROVIDERS = ["openai", "openai-compatible", "azure-openai", "aws-bedrock"]


@tool
def search(query: str) -> str:
    """Search the documents."""
    return f"found {query}"


@tool
def count(word: str, times: int = 1) -> int:
    """Count a word."""
    return len(word) * times


@pytest.mark.listens
async def test_a_sender_that_is_killed_in_the_middle_of_its_request_broke_no_rule(double, model_of):
    port = httpx.URL(double.url).port
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\n{")
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    assert (await model_of("openai").ainvoke("after it")).text == "after it"
    assert (len(double.requests), double.rejections) == (1, [])


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_text_arrives_whole_and_streamed_in_both_kinds_of_calls(double, model_of, provider):
    model = model_of(provider)
    text = "größer: one two three four five"
    assert model.invoke(text).text == text
    assert (await model.ainvoke(text)).text == text
    assert "".join(chunk.text for chunk in model.stream(text)) == text
    pieces = [chunk.text async for chunk in model.astream(text) if chunk.text]
    assert "".join(pieces) == text
    assert len(pieces) > 1
    assert (len(double.requests), double.rejections) == (4, [])


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("stream", [False, True])
def test_tool_calls_arrive_with_text_arguments_and_usage(double, model_of, provider, stream):
    made = [
        Call("call_1", "search", {"query": 'a "b" ü'}),
        Call("call_2", "count", {"word": "x", "times": 2}),
    ]
    double.brain = ScriptedBrain([Reply("Let me look.", made)])
    model = model_of(provider).bind_tools([search, count])
    answer: AIMessage = model.invoke("x")
    if stream:
        double.brain = ScriptedBrain([Reply("Let me look.", made)])
        whole = None
        for chunk in model.stream("x"):
            whole = chunk if whole is None else whole + chunk
        assert isinstance(whole, AIMessageChunk)
        answer = whole
    assert answer.text == "Let me look."
    assert [(made["id"], made["name"], made["args"]) for made in answer.tool_calls] == [
        ("call_1", "search", {"query": 'a "b" ü'}),
        ("call_2", "count", {"word": "x", "times": 2}),
    ]
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["input_tokens"] == double.requests[0].tokens


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_agent_runs_parallel_tools_to_its_answer(double, model_of, provider):
    double.brain = ScriptedBrain(
        [
            Reply(calls=[Call("", "search", {"query": "x"}), Call("", "count", {"word": "abc"})]),
            "Both are done.",
        ]
    )
    agent = create_agent(model_of(provider), [search, count], system_prompt="Be brief.")
    result = await agent.ainvoke({"messages": [HumanMessage("Find x, count abc.")]})
    assert result["messages"][-1].text == "Both are done."
    second = double.requests[1]
    assert [said.role for said in second.messages] == ["system", "user", "assistant", "tool", "tool"]
    assert [said.text for said in second.messages[-2:]] == ["found x", "3"]
    assert double.rejections == []


async def test_the_routing_brain_lets_a_chat_model_decide_over_the_wire(double, model_of):
    def decide(messages):
        if isinstance(messages[-1], ToolMessage):
            return f"It says: {messages[-1].text}"
        return calls(call("search", query=messages[-1].text))

    inner = ScriptedModel(script=decide)
    double.brain = RoutingBrain(inner)
    for provider in ("openai", "aws-bedrock"):
        agent = create_agent(model_of(provider), [search], system_prompt="Be brief.")
        result = await agent.ainvoke({"messages": [HumanMessage("ducks")]})
        assert result["messages"][-1].text == "It says: found ducks"
    assert isinstance(inner.requests[0].messages[0], SystemMessage)
    assert inner.requests[0].tools[0]["function"]["parameters"]["properties"]["query"]["type"] == "string"
    assert double.rejections == []


HISTORY = [
    SystemMessage("Be brief."),
    HumanMessage("Find größe."),
    AIMessage(
        "Looking.",
        tool_calls=[{"name": "search", "args": {"query": "größe"}, "id": "call_1", "type": "tool_call"}],
    ),
    ToolMessage("found größe", tool_call_id="call_1", name="search"),
    HumanMessage([{"type": "text", "text": "And "}, {"type": "text", "text": "now?"}]),
]


def test_the_double_and_our_own_count_agree_on_openai_messages(double, model_of):
    model_of("openai").bind_tools([search]).invoke(HISTORY)
    request = double.requests[0]
    tools = count_tools_tokens(request.body["tools"])
    assert request.tokens == count_messages_tokens(HISTORY) + tools
    assert tools > 0


def test_our_own_count_is_never_below_the_double_s_for_bedrock(double, model_of):
    model_of("aws-bedrock").bind_tools([search]).invoke(HISTORY)
    specs = [tool["toolSpec"] for tool in double.requests[0].body["toolConfig"]["tools"]]
    assert count_messages_tokens(HISTORY) + count_tools_tokens(specs) >= double.requests[0].tokens


@pytest.mark.parametrize("provider", ["openai", "aws-bedrock"])
def test_the_window_is_kept_to_the_token(double, model_of, provider):
    model = model_of(provider)
    model.invoke("ten words")
    double.window = double.requests[0].tokens
    model.invoke("ten words")
    double.window -= 1
    with pytest.raises(Exception, match=r"maximum context length|too long"):
        model.invoke("ten words")
    assert [rejected.rule for rejected in double.rejections] == ["window"]


def test_faults_come_from_the_brain_too(double, model_of):
    double.brain = ScriptedBrain([Fault(FaultKind.OVERLOADED), "back again"])
    model = model_of("openai")
    with pytest.raises(Exception, match="overloaded"):
        model.invoke("x")
    assert model.invoke("x").text == "back again"


def test_a_client_retries_nothing_by_itself(double):
    for provider in ("openai", "openai-compatible", "azure-openai", "aws-bedrock"):
        double.fail_next(Fault(FaultKind.RATE_LIMITED, retry_after=0))
        model = create_chat_model(LLMSettings.load(double.environment(provider) | {"LLM_MAX_RETRIES": "3"}))
        with pytest.raises(Exception, match=r"[Rr]ate limit|Too many requests"):
            model.invoke("again")


def post(double: StrictProvider, timeout: float = 20) -> httpx.Response:
    return httpx.post(
        f"{double.openai_url}/chat/completions",
        json={"model": "m", "messages": [{"role": "user", "content": "x"}]},
        headers={"Authorization": "Bearer k"},
        trust_env=False,
        verify=False,
        timeout=timeout,
    )


def serve_once(brain: Brain) -> int:
    with run_strict_provider(brain) as double:
        return post(double).status_code


@pytest.mark.listens
def test_an_error_of_the_brain_ends_the_test_and_not_only_the_request():
    with pytest.raises(ScriptExhaustedError):
        serve_once(ScriptedBrain([]))


@pytest.mark.listens
def test_a_brain_may_not_call_what_is_not_offered():
    with pytest.raises(BrainError, match="invented"):
        serve_once(lambda _: Reply(calls=[Call("1", "invented")]))


def test_an_unknown_path_is_not_found(double):
    assert httpx.get(f"{double.url}/v1/models", trust_env=False, verify=False).status_code == 404


@pytest.mark.listens
def test_a_stalled_answer_does_not_keep_the_double_from_stopping():
    with run_strict_provider() as double:
        double.fail_next(FaultKind.STALL)
        with pytest.raises(httpx.ReadTimeout):
            post(double, timeout=0.2)


@pytest.mark.listens
def test_two_doubles_run_side_by_side():
    with run_strict_provider() as one, run_strict_provider() as other:
        assert one.url != other.url


@pytest.mark.processes
def test_the_double_runs_by_hand():
    shown = subprocess.run(
        [sys.executable, "-m", "utils.testing.strict_provider", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--window" in shown.stdout


@tool
def ask_github(request: str) -> str:
    """GitHub: pull requests, issues, repositories, workflow runs."""
    return '{"kind": "pull requests", "items": [{"number": 7, "title": "Mend the fence"}]}'


@tool
def ask_documents(request: str) -> str:
    """Answers from the bundled documentation."""
    return '{"articles": []}'


@pytest.mark.parametrize("provider", ["openai", "aws-bedrock"])
async def test_the_embedded_model_behind_the_double_routes_and_answers(double, model_of, provider):
    embedder = create_embedder(EmbeddingSettings.load({}), cache=None)
    double.brain = RoutingBrain(create_chat_model(LLMSettings.load({}), embedder_factory=lambda: embedder))
    agent = create_agent(model_of(provider), [ask_github, ask_documents], system_prompt="Delegate.")
    question = HumanMessage("List the open pull requests of octocat/hello-world")
    result = await agent.ainvoke({"messages": [question]})
    asked = [made["name"] for message in result["messages"] for made in getattr(message, "tool_calls", ())]
    assert asked == ["ask_github"]
    assert "Mend the fence" in result["messages"][-1].text
    assert double.rejections == []
