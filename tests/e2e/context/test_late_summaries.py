"""A summary that is ready after the next turn has begun is kept, whatever that turn left out or asked."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.messages import BaseMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from tests.e2e.context.test_check_before_a_turn import CONFIG, LONG, NO_MODEL, THREAD, Talker
from utils.a2a_common.graph.questions.asked_by_tools import ask_user
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.request import AgentRequest
from utils.context.compaction import Compaction
from utils.errors import ContentRefused
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls

SUMMARY = "They spoke of services."
ASKS = "Write the summary alone"
WINDOW = "8000"
FORBIDDEN = "a forbidden word"


class SlowWriter:
    """Answers a user at once, and writes summaries when it may."""

    def __init__(self) -> None:
        self.may_write = asyncio.Event()
        self.wanted = asyncio.Event()
        self.written: list[str] = []

    def __call__(self, messages: Sequence[BaseMessage]) -> ScriptedReply:
        last = messages[-1]
        if ASKS in str(last.content):
            self.wanted.set()
            self.written.append("\n".join(str(message.content) for message in messages))
            return ScriptedReply(SUMMARY, gate=self.may_write)
        if FORBIDDEN in str(messages):
            return ScriptedReply(error=ContentRefused("The model provider refused the request."))
        if last.type == "human" and "hotel" in str(last.content):
            return calls(call("where"))
        return ScriptedReply("Noted.")

    def let_go(self) -> None:
        """Let the summaries go on that are asked for by now, and no later ones."""
        self.may_write.set()
        self.may_write, self.wanted = asyncio.Event(), asyncio.Event()

    def times_each_turn_was_read(self) -> list[int]:
        found = Counter(turn for text in self.written for turn in set(re.findall(r"Turn \d+\.", text)))
        return list(found.values())


@tool
def where() -> str:
    """Ask where."""
    return ask_user("Which city?").text


class Host(Talker):
    """Asks which city where a hotel is wanted."""

    own_tools = (where,)


def host(home: Path) -> tuple[Host, SlowWriter]:
    writer = SlowWriter()
    settings = AgentSettings.load({**NO_MODEL, "MAX_CONTEXT_TOKENS": WINDOW})
    model = ScriptedModel(script=writer)
    return Host(AgentRuntime(home=home, settings=settings, model=model, checkpointer=InMemorySaver())), writer


async def say(agent: Host, text: str, number: int, *, answers: bool = False) -> None:
    request = AgentRequest(
        text=text,
        task_id=f"t{number}",
        context_id="c",
        message_id=f"m{number}-{answers}",
        thread_id=THREAD,
        resumes=answers,
    )
    async for _ in agent.stream(request):
        pass


async def say_much(agent: Host, number: int) -> None:
    await say(agent, f"Turn {number}. {LONG * 12}", number)


async def idle(agent: Host, writer: SlowWriter) -> None:
    """Let every summary be written, and wait until nothing more is done in the background."""
    writer.may_write.set()
    await asyncio.gather(*agent._after._tasks)


async def stored(agent: Host) -> Compaction:
    assert agent._built is not None
    return Compaction.from_state((await agent._built.graph.aget_state(CONFIG)).values.get("compaction"))


async def until_summary_is_wanted(agent: Host, writer: SlowWriter) -> int:
    """Talk until a summary is being written; the number of turns."""
    for number in range(20):
        await say_much(agent, number)
        waits = asyncio.create_task(writer.wanted.wait())
        await asyncio.wait([waits, *agent._after._tasks], return_when=asyncio.FIRST_COMPLETED)
        waits.cancel()
        if writer.wanted.is_set():
            return number + 1
    pytest.fail("no summary was asked for")


@pytest.mark.long
async def test_no_turn_is_summarised_twice_though_the_user_is_always_faster_than_the_summary(tmp_path: Path):
    agent, writer = host(tmp_path)
    for number in range(16):
        await say_much(agent, number)
        writer.let_go()
        assert len(agent._after._tasks) <= 1
    await idle(agent, writer)
    read = writer.times_each_turn_was_read()
    assert len(read) >= 12
    assert set(read) == {1}
    assert (await stored(agent)).written == SUMMARY


async def test_a_summary_is_kept_and_shown_though_the_view_has_shrunk_further_meanwhile(tmp_path: Path):
    agent, writer = host(tmp_path)
    number = await until_summary_is_wanted(agent, writer)
    for more in range(number, number + 3):
        await say_much(agent, more)
    overtaken = await stored(agent)
    assert overtaken.written == ""
    assert overtaken.count > 1
    await idle(agent, writer)
    kept = await stored(agent)
    assert kept.written == SUMMARY
    assert SUMMARY in kept.summary


async def test_what_was_refused_meanwhile_comes_back_with_no_summary(tmp_path: Path):
    agent, writer = host(tmp_path)
    number = await until_summary_is_wanted(agent, writer)
    words = " ".join(f"Put {FORBIDDEN} on host-{each} by May {each}." for each in range(1, 30))
    with pytest.raises(ContentRefused):
        await say(agent, f"{words} {LONG * 6}", number)
    for more in range(number + 1, number + 5):
        await say_much(agent, more)
    await idle(agent, writer)
    kept = await stored(agent)
    assert kept.written == SUMMARY
    assert FORBIDDEN not in str(kept)
    assert not any(FORBIDDEN in text for text in writer.written)
    await say_much(agent, number + 5)


async def test_what_is_made_while_the_user_is_asked_is_kept_after_the_answer(tmp_path: Path):
    agent, writer = host(tmp_path)
    number = await until_summary_is_wanted(agent, writer)
    await say(agent, "A hotel, please.", number)
    await idle(agent, writer)
    assert (await stored(agent)).written == ""
    read = len(writer.written)
    await say(agent, "Rome", number, answers=True)
    await idle(agent, writer)
    assert (await stored(agent)).written == SUMMARY
    assert set(writer.times_each_turn_was_read()) == {1}
    assert len(writer.written) == read


async def test_a_summary_of_a_conversation_that_was_forgotten_meanwhile_is_not_kept(tmp_path: Path):
    agent, writer = host(tmp_path)
    number = await until_summary_is_wanted(agent, writer)
    await agent.clear_context(THREAD)
    await say(agent, "Hello.", number)
    await idle(agent, writer)
    assert await stored(agent) == Compaction()
    artifacts = agent._middlewares.context._artifacts
    assert await artifacts.delete_scope(THREAD) == 0
