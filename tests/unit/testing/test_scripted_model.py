"""The scripted model replays what it is given and remembers what it was shown."""

from __future__ import annotations

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.tools import tool

from utils.events import Usage
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, ScriptExhaustedError, call, calls


@tool
def search(query: str) -> str:
    """Search the documents."""
    return f"found {query}"


async def test_replies_come_in_order_and_requests_are_recorded():
    model = ScriptedModel.of("one", AIMessage("two"))
    first = await model.ainvoke([HumanMessage("a")])
    second = model.invoke([HumanMessage("b")], stop=["."])
    assert [first.text, second.text] == ["one", "two"]
    assert [request.messages[0].text for request in model.requests] == ["a", "b"]
    assert model.requests[1].options == {"stop": ["."]}


async def test_an_agent_runs_its_tools_from_the_script():
    model = ScriptedModel.of(calls(call("search", query="x"), usage=Usage(10, 5, 2)), "It is x.")
    result = await create_agent(model, [search]).ainvoke({"messages": [HumanMessage("What is x?")]})
    assert [message.text for message in result["messages"]] == ["What is x?", "", "found x", "It is x."]
    assert result["messages"][1].usage_metadata["input_token_details"] == {"cache_read": 2}
    assert model.requests[0].tools[0]["function"]["name"] == "search"
    model.assert_finished()


def test_a_request_past_the_end_is_an_error():
    model = ScriptedModel.of("only")
    model.invoke("a")
    with pytest.raises(ScriptExhaustedError, match="Request 2 came, but the script has 1 steps"):
        model.invoke("b")


def test_steps_that_nobody_asked_for_are_an_error():
    model = ScriptedModel.of("one", "two")
    model.invoke("a")
    with pytest.raises(ScriptExhaustedError, match="1 of 2"):
        model.assert_finished()


async def test_an_error_that_is_raised_twice_keeps_nothing_of_the_first_time():
    error = TimeoutError("slow")
    vars(error)["status_code"] = 504
    model = ScriptedModel.of(error, error)
    for _ in range(2):
        with pytest.raises(TimeoutError, match="slow") as caught:
            await model.ainvoke("a")
        assert vars(caught.value)["status_code"] == 504
        caught.value.add_note("seen")
    assert error.__traceback__ is None
    assert not hasattr(error, "__notes__")


async def test_text_streams_in_the_given_pieces_then_calls_then_usage():
    reply = ScriptedReply(chunks=["Loo", "king"], tool_calls=[call("search", query="x")], usage=Usage(3, 4))
    pieces = [piece async for piece in ScriptedModel.of(reply).astream("a")]
    assert [piece.text for piece in pieces if piece.text] == ["Loo", "king"]
    whole = pieces[0]
    for piece in pieces[1:]:
        whole += piece
    assert isinstance(whole, AIMessageChunk)
    assert whole.tool_calls == [call("search", query="x")]
    assert whole.usage_metadata is not None
    assert whole.usage_metadata["total_tokens"] == 7


async def test_a_stream_can_break_after_its_first_pieces():
    stream = ScriptedModel.of(ScriptedReply(chunks=["half an "], error=ConnectionError())).astream("a")
    assert (await anext(stream)).text == "half an "
    with pytest.raises(ConnectionError):
        await anext(stream)


def test_a_stream_also_runs_without_an_event_loop():
    assert "".join(piece.text for piece in ScriptedModel.of("plain").stream("a")) == "plain"


async def test_a_gate_holds_the_answer_until_the_test_opens_it():
    started, gate = asyncio.Event(), asyncio.Event()
    model = ScriptedModel.of(ScriptedReply("now", started=started, gate=gate))
    pending = asyncio.create_task(model.ainvoke("a"))
    await started.wait()
    assert not pending.done()
    gate.set()
    assert (await pending).text == "now"


async def test_a_chunk_gate_holds_the_stream_after_its_first_piece():
    gate = asyncio.Event()
    stream = ScriptedModel.of(ScriptedReply(chunks=["a", "b"], chunk_gate=gate)).astream("x")
    assert (await anext(stream)).text == "a"
    second = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    assert not second.done()
    gate.set()
    assert (await second).text == "b"
    assert "".join([piece.text async for piece in stream]) == ""


def test_a_gated_reply_refuses_a_call_that_would_block():
    with pytest.raises(TypeError, match="ainvoke"):
        ScriptedModel.of(ScriptedReply("x", gate=asyncio.Event())).invoke("a")


async def test_a_function_answers_many_conversations_by_content():
    model = ScriptedModel(script=lambda messages: f"echo {messages[-1].text}")
    answers = await asyncio.gather(*(model.ainvoke(f"{n}") for n in range(20)))
    assert [answer.text for answer in answers] == [f"echo {n}" for n in range(20)]
