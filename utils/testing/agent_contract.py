"""The contract of every agent on `BaseLangGraphAgent`, over real HTTP with a scripted model.

    class TestJira(AgentContract):
        agent = JiraAgent

pytest runs every promise of it against the agent, with its own prompt, tools, middleware and hooks.
What a tool can do is played by probes beside the agent's tools, so that no service of it is needed.

It needs pytest and pytest-asyncio, in whichever mode: the promises are marked as the coroutines that they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import ClassVar

import pytest
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.tools import BaseTool
from structlog.testing import capture_logs

from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.tools.agent_tool import built
from utils.a2a_common.protocol.extensions import READ_ONLY_EXTENSION
from utils.errors import ContextOverflow
from utils.messages.repeatable import is_read_only
from utils.testing.contract.client import ENDED, Client, Seen, client_of, state_of, text_of
from utils.testing.contract.probes import LARGE, QUESTION, SECRET, probed
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import Script, ScriptedModel, ScriptedReply, Step, call, calls

LARGEST_RESULT = 10_000
"""Characters of a tool result that a model is shown at most: the default of MAX_TOOL_OUTPUT_SIZE."""

_MANY_WORDS = f"{'more words than the last time ' * 12}again. " * 30
"""As long as a page, in thirty sentences: a conversation of thousands of sentences takes seconds to condense."""


class AgentContract:
    """Subclass it in a test module and name the agent.

    Class attributes:
        agent: The agent's class.
        environ: Settings that it needs, and those that spare it slow work which no promise is about.
    """

    pytestmark = pytest.mark.asyncio

    agent: ClassVar[type[BaseLangGraphAgent]]
    environ: ClassVar[Mapping[str, str]] = {"EMBEDDINGS_PROVIDER": "none", "RAG_SOURCES": "none"}

    @asynccontextmanager
    async def serving(self, script: Script) -> AsyncIterator[tuple[Client, ScriptedModel]]:
        """The agent on a server, with a model that plays `script`."""
        model = ScriptedModel(script=script)
        with capture_logs():  # a traceback that is drawn for a terminal takes seconds
            async with (
                running_agent(probed(self.agent), environ=self.environ, model=model) as url,
                client_of(url) as client,
            ):
                yield client, model

    async def test_the_card_says_who_the_agent_is_and_what_it_can_do(self) -> None:
        """Clients and supervisors choose by it."""
        async with self.serving([]) as (client, _):
            card = await client.card()
        assert card["name"] == self.agent.name
        assert self.agent.description in card["description"]
        assert card["version"]
        assert card["capabilities"]["streaming"]
        assert card["supportedInterfaces"]
        assert card["skills"], "a supervisor routes by skills"
        for skill in card["skills"]:
            assert skill["description"]
            assert skill["examples"], f"skill {skill['id']} has no examples in users' words"

    async def test_an_agent_that_says_that_it_only_reads_has_no_tool_that_may_change_something(self) -> None:
        """A supervisor tells a failure by it."""
        found: list[BaseTool] = []

        class Listed(self.agent):  # type: ignore[name-defined, misc]
            """The agent, whose tools are noted."""

            async def tools(self) -> Sequence[BaseTool]:
                """Its own."""
                found[:] = built(await super().tools())
                return found

        with capture_logs():
            async with (
                running_agent(Listed, environ=self.environ, model=ScriptedModel(script=[])) as url,
                client_of(url) as client,
            ):
                extensions = (await client.card())["capabilities"]["extensions"]
        if READ_ONLY_EXTENSION in {each["uri"] for each in extensions}:
            assert [tool.name for tool in found if not is_read_only(tool.metadata)] == []

    async def test_text_arrives_while_the_model_still_writes(self) -> None:
        """The first event is the task; chunks append to one artifact and the last one says so."""
        gate = asyncio.Event()
        async with self.serving([ScriptedReply(chunks=["One. ", "Two."], chunk_gate=gate)]) as (client, _):
            seen = Seen()
            async with aclosing(client.stream("Count.")) as events:
                async for event in events:
                    seen.events.append(event)
                    if "One. " in seen.text:
                        gate.set()
            _assert_well_formed(seen, "completed")
            assert seen.text == "One. Two."
            assert len(seen.chunks) > 1
            assert [bool(one.get("append")) for one in seen.chunks] == [False] + [True] * (
                len(seen.chunks) - 1
            )
            assert [bool(one.get("lastChunk")) for one in seen.chunks][-1]
            assert len({one["artifact"]["artifactId"] for one in seen.chunks}) == 1
            assert text_of(await client.get(seen.task["id"])) == "One. Two."

    async def test_a_unary_send_ends_in_the_same_task_as_a_streamed_one(self) -> None:
        """How a client listens changes nothing."""
        async with self.serving(lambda _: "The same.") as (client, _):
            unary, streamed = await client.send("Say."), await client.ask("Say.")
            stored = await client.get(streamed.task["id"])
            assert state_of(unary) == state_of(stored) == streamed.states[-1] == "completed"
            assert text_of(unary) == text_of(stored) == streamed.text == "The same."

    async def test_a_tool_runs_and_its_result_reaches_the_model(self) -> None:
        """A remark before a tool call is not the answer."""
        steps: list[Step] = [calls(call("probe_value", key="a"), text="Let me look."), "It is there."]
        async with self.serving(steps) as (client, model):
            seen = await client.ask("What is a?")
            _assert_well_formed(seen, "completed")
            assert seen.text == "It is there."
            assert _shown(model) == "value of a"

    async def test_a_crash_of_the_model_fails_the_task_with_a_sentence(self) -> None:
        """No part of the exception is shown; failed is never completed."""
        async with self.serving([ZeroDivisionError(SECRET)]) as (client, _):
            seen = await client.ask("Hello")
            _assert_well_formed(seen, "failed")
            _assert_no_leak(seen)

    async def test_a_cancel_stops_the_work(self) -> None:
        """No model call begins after a cancel was answered."""
        started, gate = asyncio.Event(), asyncio.Event()
        waiting = ScriptedReply(tool_calls=[call("probe_value", key="a")], started=started, gate=gate)
        async with self.serving([waiting, "Too late."]) as (client, model):
            asking = asyncio.create_task(client.ask("Work."))
            await started.wait()
            tasks = (await client.call("ListTasks", {}))["result"]["tasks"]
            answer = await client.call("CancelTask", {"id": tasks[0]["id"]})
            gate.set()
            assert state_of(answer["result"]) == "canceled"
            _assert_well_formed(await asking, "canceled")
            assert len(model.requests) == 1
            assert state_of(await client.get(tasks[0]["id"])) == "canceled"

    async def test_a_question_waits_and_the_reply_resumes_the_same_task(self) -> None:
        """The stream ends with the question; the tool gets the user's words."""
        async with self.serving([calls(call("probe_question")), "Blue it is."]) as (client, model):
            asked = await client.ask("Paint it.")
            _assert_well_formed(asked, "input_required")
            parts = asked.events[-1]["statusUpdate"]["status"]["message"]["parts"]
            assert QUESTION in "".join(part.get("text", "") for part in parts)
            task = asked.task
            answered = await client.ask("Blue", taskId=task["id"], contextId=task["contextId"])
            assert answered.states[-1] == "completed"
            assert answered.text == "Blue it is."
            assert (await client.get(task["id"]))["contextId"] == task["contextId"]
            assert _shown(model) == "The user said: Blue"

    async def test_an_exception_in_a_tool_is_something_the_model_can_work_with(self) -> None:
        """The other tools' answers count; the exception's text stays inside."""
        steps: list[Step] = [calls(call("probe_crash", key="a"), call("probe_value", key="b")), "One worked."]
        async with self.serving(steps) as (client, model):
            seen = await client.ask("Try both.")
            _assert_well_formed(seen, "completed")
            assert seen.text == "One worked."
            _assert_no_leak(seen)
            shown = [one.text for one in model.requests[-1].messages[-2:]]
            assert not any(SECRET in text for text in shown)
            assert any("value of b" in text for text in shown)

    async def test_a_turn_whose_only_tool_crashed_is_not_reported_as_completed(self) -> None:
        """Whatever the model answers."""
        async with self.serving([calls(call("probe_crash", key="a")), "All fine."]) as (client, _):
            seen = await client.ask("Try.")
            _assert_well_formed(seen, "failed")
            _assert_no_leak(seen)

    async def test_a_result_of_60_kb_is_shown_with_its_end_and_can_be_read_back(self) -> None:
        """A log's last line is what matters; the rest stands under a handle."""
        assert len(LARGE) > 60_000  # noqa: PLR2004 - the size that the contract names
        async with self.serving([calls(call("probe_large")), "The disk is full."]) as (client, model):
            seen = await client.ask("Why did it fail?")
            _assert_well_formed(seen, "completed")
            shown = _shown(model)
            assert len(shown) <= LARGEST_RESULT
            assert shown.startswith(LARGE[:30])
            assert shown.endswith(LARGE[-20:])
            assert "art_" in shown
            offered = {str(tool["function"]["name"]) for tool in model.requests[-1].tools}
            assert "read_tool_output" in offered

    async def test_a_conversation_that_outgrows_the_window_goes_on(self) -> None:
        """The model says once that a request is too long; the next one is shorter, and is answered."""
        play = _Overflow(times=1)
        async with self.serving(play) as (client, _):
            task = (await client.ask("Begin. " + _MANY_WORDS)).task
            for number in range(3):
                await client.ask(f"Go on {number}. " + _MANY_WORDS, contextId=task["contextId"])
            play.armed = True
            seen = await client.ask("And now?", contextId=task["contextId"])
            _assert_well_formed(seen, "completed")
            assert seen.text.endswith("Answer.")
            assert play.sizes[-1] < play.sizes[-2]

    async def test_a_request_that_never_fits_fails_with_a_sentence(self) -> None:
        """And not with a loop."""
        play = _Overflow(times=1_000, armed=True)
        async with self.serving(play) as (client, _):
            seen = await client.ask("Hello")
            _assert_well_formed(seen, "failed")
            assert len(play.sizes) < 20  # noqa: PLR2004 - a handful of tries, whatever the policy

    async def test_two_contexts_at_once_do_not_see_each_other(self) -> None:
        """State of a request is kept with the request."""
        both, arrived = asyncio.Event(), list[int]()

        def echo(messages: Sequence[BaseMessage]) -> ScriptedReply:
            arrived.append(1)
            if len(arrived) > 1:
                both.set()
            words = [message.text for message in messages if isinstance(message, HumanMessage)]
            return ScriptedReply("Heard: " + ", ".join(words), gate=both)

        async with self.serving(echo) as (client, _):
            first, second = await asyncio.gather(client.ask("apples"), client.ask("pears"))
            again = await client.ask("plums", contextId=first.task["contextId"])
            assert first.task["contextId"] != second.task["contextId"]
            assert (first.text, second.text) == ("Heard: apples", "Heard: pears")
            assert again.text == "Heard: apples, plums"


class _Overflow:
    """A model that finds its requests too long for a while; it knows their sizes."""

    def __init__(self, times: int, *, armed: bool = False) -> None:
        self.armed = armed
        self.sizes: list[int] = []
        self._left = times

    def __call__(self, messages: Sequence[BaseMessage]) -> Step:
        if not self.armed:
            return "Answer."
        self.sizes.append(sum(len(message.text) for message in messages))
        if self._left:
            self._left -= 1
            return ContextOverflow("The request is too long for the model.")
        return "Answer."


def _shown(model: ScriptedModel) -> str:
    """What the model was shown last."""
    return str(model.requests[-1].messages[-1].text)


def _assert_well_formed(seen: Seen, end: str) -> None:
    """The task first, one state that ends the stream, and nothing after it."""
    assert "task" in seen.events[0], "the first event is the task"
    ends = [state for state in seen.states if state in ENDED or state == "input_required"]
    assert ends == [end]
    assert "statusUpdate" in seen.events[-1], "nothing follows the last state"
    assert seen.states[-1] == end


def _assert_no_leak(seen: Seen) -> None:
    events = str(seen.events)
    assert SECRET not in events
    assert "ZeroDivisionError" not in events
    assert "Traceback" not in events
