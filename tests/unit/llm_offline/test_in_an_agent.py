"""The embedded model as an agent's model: routing, arguments, follow-ups, answers."""

import asyncio
import threading

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage

from tests.unit.llm_offline.support import Desk, ask
from utils.embeddings.cache import CachedEmbedder
from utils.embeddings.minilm import MiniLmEmbedder
from utils.llm.embedded import EmbeddedChatModel


@pytest.fixture(scope="module")
def embedder():
    return CachedEmbedder(MiniLmEmbedder(), None)


@pytest.fixture(params=["meaning", "words"])
def agent(request, embedder, desk):
    return desk.agent(embedder if request.param == "meaning" else None)


@pytest.fixture
def desk():
    return Desk()


def test_a_list_is_answered_with_every_row_and_the_total(agent, desk):
    answer = ask(agent, "List the closed pull requests of acme/rocket")[-1].text
    assert desk.asked == [("list_pull_requests", "acme", "rocket", "closed")]
    assert "**60 pull requests, 2 shown**" in answer
    assert "| [#7](https://x/o/r/pull/7) | Change 7 | mona |" in answer
    assert "2 of 60 are shown." in answer


def test_a_how_to_question_is_answered_with_steps_command_and_source(agent):
    answer = ask(agent, "How do I add a new sub-agent?")[-1].text
    assert "1. Run the generator." in answer
    assert "```bash\nmake new-agent NAME=jira\n```" in answer
    assert "**In three steps** — docs/add-an-agent.md" in answer
    assert "SQLite" not in answer


def test_two_requests_in_one_are_called_in_parallel_and_answered_in_order(agent, desk):
    messages = ask(agent, "How do I add a sub-agent, and list the open PRs of octocat/hello-world?")
    calls = messages[1].tool_calls
    assert [call["name"] for call in calls] == ["search", "list_pull_requests"]
    assert len({call["id"] for call in calls}) == 2
    answer = messages[-1].text
    assert answer.index("## How do I add a sub-agent") < answer.index("## List the open PRs of octocat")
    assert "make new-agent" in answer
    assert "Change 9" in answer


def test_a_follow_up_keeps_what_it_does_not_change(agent, desk):
    ask(
        agent,
        "List the open pull requests of acme/rocket",
        "and the closed ones?",
        "what about acme/shuttle?",
    )
    assert desk.asked == [
        ("list_pull_requests", "acme", "rocket", "open"),
        ("list_pull_requests", "acme", "rocket", "closed"),
        ("list_pull_requests", "acme", "shuttle", "closed"),
    ]


def test_the_second_one_is_the_second_row(agent, desk):
    ask(agent, "List the open pull requests of acme/rocket", "and the second one?")
    assert desk.asked[-1] == ("get_pull_request", "acme", "rocket", 9)


def test_call_ids_are_never_used_twice_in_a_conversation(agent):
    messages = ask(agent, *["List the open pull requests of acme/rocket"] * 3)
    ids = [
        call["id"] for message in messages if isinstance(message, AIMessage) for call in message.tool_calls
    ]
    assert len(ids) == len(set(ids)) == 3


def test_a_missing_repository_is_asked_for_and_the_answer_completes_the_request(agent, desk):
    messages = ask(agent, "List the closed pull requests")
    assert "Which repository" in messages[-1].text
    assert desk.asked == []
    ask(agent, "List the closed pull requests", "acme/rocket")
    assert desk.asked == [("list_pull_requests", "acme", "rocket", "closed")]


def test_the_last_run_is_found_in_the_list_and_then_shown(desk, embedder):
    answer = ask(desk.agent(embedder), "Why did the last workflow run of acme/rocket fail?")[-1].text
    assert desk.asked == [("list_workflow_runs", "acme", "rocket"), ("get_job_logs", "acme", "rocket", 200)]
    assert "AssertionError" in answer


@pytest.mark.parametrize(
    "words", ["hello", "Thanks a lot!", "what can you do?", "write me a poem about autumn"]
)
def test_small_talk_and_what_is_out_of_scope_call_no_tool(desk, embedder, words):
    answer = ask(desk.agent(embedder), words)[-1]
    assert desk.asked == []
    assert answer.text


def test_thanks_are_no_request(desk, embedder):
    answer = ask(desk.agent(embedder), "That is everything on my list, thank you. You've been very patient.")
    assert "cannot help" not in answer[-1].text


def test_what_it_cannot_do_it_says_with_what_it_can(desk, embedder):
    answer = ask(desk.agent(embedder), "write me a poem about autumn")[-1].text
    assert answer.startswith("I cannot help with that.")
    assert "list pull requests" in answer


def test_a_tool_that_finds_nothing_is_not_called_again(embedder):
    desk = Desk(articles=())
    answer = ask(desk.agent(embedder), "How do I mount a rocket engine?")[-1].text
    assert len(desk.asked) == 1
    assert answer == "I found nothing about that in the documents."


async def test_streamed_chunks_add_up_to_the_same_answer(desk, embedder):
    model = EmbeddedChatModel(embedder).bind_tools(desk.tools())
    messages: list[BaseMessage] = [HumanMessage("How do I add a new sub-agent?")]
    called = await _merged(model, messages)
    assert called.tool_calls == (await model.ainvoke(messages)).tool_calls
    messages += [called, ToolMessage(desk.search("x"), tool_call_id=called.tool_calls[0]["id"])]
    streamed, whole = await _merged(model, messages), await model.ainvoke(messages)
    assert streamed.text == whole.text
    assert streamed.usage_metadata == whole.usage_metadata
    assert whole.usage_metadata is not None
    assert whole.usage_metadata["output_tokens"] > 10


async def _merged(model, messages):
    chunks = [chunk async for chunk in model.astream(messages)]
    assert len(chunks) > 1
    merged = chunks[0]
    for chunk in chunks[1:]:
        merged += chunk
    assert isinstance(merged, AIMessageChunk)
    return merged


async def test_deciding_happens_off_the_event_loop(desk):
    threads = []

    class Watched(MiniLmEmbedder):
        def embed_sync(self, texts):
            threads.append(threading.current_thread())
            return super().embed_sync(texts)

    await EmbeddedChatModel(Watched()).bind_tools(desk.tools()).ainvoke("How do leases work?")
    assert threads
    assert threading.main_thread() not in threads


async def test_two_conversations_at_once_do_not_see_each_other(embedder):
    desk = Desk()
    agent = desk.agent(embedder)
    names = [f"acme/rocket-{n}" for n in range(6)]
    states = await asyncio.gather(
        *(
            agent.ainvoke({"messages": [HumanMessage(f"List the open pull requests of {name}")]})
            for name in names
        )
    )
    for name, state in zip(names, states, strict=True):
        assert f"— {name}, open\n" in state["messages"][-1].text


def test_the_same_conversation_gets_the_same_reply(desk, embedder):
    model = EmbeddedChatModel(embedder).bind_tools(desk.tools())
    first, second = (model.invoke("List the open pull requests of acme/rocket") for _ in range(2))
    assert first.tool_calls == second.tool_calls


def test_without_tools_it_says_so():
    assert "No agent is available" in EmbeddedChatModel(None).invoke("How do I add an agent?").text


def test_a_failed_call_is_told_in_its_own_words(desk, embedder):
    model = EmbeddedChatModel(embedder).bind_tools(desk.tools())
    call = {"name": "search", "args": {"query": "q"}, "id": "1"}
    problem = '{"error": "retrieval_failed", "message": "The index cannot be read.", "retryable": true}'
    answer = model.invoke(
        [HumanMessage("How?"), AIMessage("", tool_calls=[call]), ToolMessage(problem, tool_call_id="1")]
    )
    assert answer.text == "The index cannot be read."
    assert answer.tool_calls == []
