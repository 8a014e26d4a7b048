"""One agent's turn as a client sees it: the rules of the wire, at the HTTP level."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from a2a.types.a2a_pb2 import CancelTaskRequest, GetTaskRequest, TaskState

from tests.e2e.agents.peers import Answer, Keys, ask, ask_unary, connected
from utils.a2a_common.protocol.extensions import (
    ERROR_EXTENSION,
    TRACE_EXTENSION,
    USAGE_EXTENSION,
)
from utils.a2a_common.protocol.request import AgentRequest
from utils.errors import ModelUnavailable
from utils.events import AgentEvent, Completed, Failed, InputRequired, TextDelta, Usage
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


async def one_turn(*script: Any, text: str = "hello") -> Answer:
    model = ScriptedModel(script=list(script))
    async with running_agent(Keys, model=model) as url, connected(url) as client:
        return await ask(client, text)


async def test_the_first_event_is_the_task_and_the_last_the_one_terminal_status() -> None:
    answer = await one_turn("A short answer.")
    assert answer.kinds[0] == "task"
    assert answer.kinds[-1] == "status_update"
    assert answer.state == "completed"
    terminal = [state for state in answer.statuses if state not in (1, 2)]
    assert terminal == [TaskState.TASK_STATE_COMPLETED]


@pytest.mark.long
async def test_every_end_tells_the_trace_id_that_the_logs_have() -> None:
    for script in (["A short answer."], [ScriptedReply(error=ModelUnavailable("Down."))] * 9):
        answer = await one_turn(*script)
        (told,) = answer.metadata(TRACE_EXTENSION)
        assert re.fullmatch("[0-9a-f]{32}", told["trace_id"])


async def test_the_text_of_an_answer_crosses_the_wire_once() -> None:
    answer = await one_turn(ScriptedReply(chunks=["Once ", "and ", "only ", "once."]))
    assert "".join(text for _, _, text in answer.chunks) == "Once and only once."
    assert {event.artifact_update.artifact.name for event in answer.events} <= {"", "response"}
    assert answer.last_words == ""


async def test_chunks_begin_without_append_go_on_with_it_and_the_last_is_marked() -> None:
    answer = await one_turn(ScriptedReply(chunks=["word "] * 300))
    appends = [append for append, _, _ in answer.chunks]
    lasts = [last for _, last, _ in answer.chunks]
    assert appends == [False] + [True] * (len(appends) - 1)
    assert lasts == [False] * (len(lasts) - 1) + [True]
    assert 2 <= len(appends) < 60


async def test_streamed_and_unary_sends_end_in_the_same_task() -> None:
    model = ScriptedModel(script=[ScriptedReply(chunks=["Same ", "answer."])] * 2)
    async with running_agent(Keys, model=model) as url, connected(url) as client:
        streamed = await ask(client, "hello")
        stored = await client.get_task(GetTaskRequest(id=streamed.task_id))
        unary = await ask_unary(url, "hello")
    assert streamed.text == "Same answer."
    for task in (stored, unary):
        assert task.status.state == TaskState.TASK_STATE_COMPLETED
        assert [part.text for each in task.artifacts for part in each.parts] == ["Same answer."]


async def test_a_remark_before_a_tool_call_is_replaced_by_the_answer() -> None:
    remark = ScriptedReply(text="Let me look.", tool_calls=[call("lookup", key="a")])
    answer = await one_turn(remark, "The value is a.")
    assert answer.text == "The value is a."
    assert answer.state == "completed"


async def test_tool_calls_are_activity_and_never_part_of_the_answer() -> None:
    answer = await one_turn(calls(call("lookup", key="a")), "It is the value of a.")
    kinds = [payload["kind"] for payload in answer.activity]
    assert kinds == ["tool_started", "tool_finished"]
    assert answer.activity[1]["status"] == "ok"
    assert answer.activity[1]["result"] == "the value of a"
    assert answer.text == "It is the value of a."


async def test_the_result_of_a_call_is_shown_by_its_beginning_and_without_secrets() -> None:
    key = f"ghp_{'x' * 30} {'word ' * 400}"
    answer = await one_turn(calls(call("lookup", key=key)), "It is there.")
    shown = answer.activity[1]["result"]
    assert shown.startswith("the value of [redacted] word")
    assert len(shown) < 600
    assert shown.endswith(" more characters)")


async def test_a_call_that_failed_shows_the_sentence_that_the_model_got() -> None:
    answer = await one_turn(calls(call("lookup", key="down")), "It is down.")
    finished = answer.activity[1]
    assert finished["status"] == "error"
    assert "The key service cannot be reached right now." in finished["result"]


async def test_activity_never_grows_the_tasks_history() -> None:
    model = ScriptedModel(script=[calls(call("lookup", key="a")), "Done."])
    async with running_agent(Keys, model=model) as url, connected(url) as client:
        answer = await ask(client, "hello")
        task = await client.get_task(GetTaskRequest(id=answer.task_id))
    assert len(task.history) == 1


async def test_a_failing_tool_is_never_shown_as_done() -> None:
    answer = await one_turn(calls(call("lookup", key="missing")), "There is no such key.")
    assert answer.activity[1]["status"] == "error"
    assert answer.state == "completed"


async def test_a_tool_call_with_wrong_arguments_is_never_shown_as_done() -> None:
    answer = await one_turn(calls(call("lookup", unknown="a")), "That did not work.")
    assert answer.activity[1]["status"] == "error"


async def test_an_agent_whose_every_needed_tool_failed_fails_with_that_code() -> None:
    answer = await one_turn(calls(call("lookup", key="down")), "The service is down.")
    assert answer.state == "failed"
    assert answer.metadata(ERROR_EXTENSION)[0]["code"] == "upstream_unavailable"
    assert answer.last_words == "The key service cannot be reached right now."


async def test_what_the_model_says_of_a_failed_tool_is_the_text_of_the_failed_task() -> None:
    answer = await one_turn(calls(call("lookup", key="down")), "The service is down. Last week a was 42.")
    assert (answer.state, answer.text) == ("failed", "The service is down. Last week a was 42.")
    assert answer.last_words == "The key service cannot be reached right now."


async def test_words_that_only_repeat_why_a_tool_failed_are_told_once() -> None:
    sentence = "The key service cannot be reached right now."
    answer = await one_turn(calls(call("lookup", key="down")), f"**{sentence}**")
    assert (answer.state, answer.text, answer.last_words) == ("failed", "", sentence)


async def test_one_tool_that_worked_is_enough_to_complete() -> None:
    both = calls(call("lookup", "one", key="down"), call("lookup", "two", key="a"))
    answer = await one_turn(both, "Half of it worked.")
    assert answer.state == "completed"


async def test_an_answer_that_quotes_an_error_is_an_answer() -> None:
    text = 'The log says "Error: disk full" ✅ and 🔧 Calling tool'
    answer = await one_turn(text)
    assert (answer.state, answer.text) == ("completed", text)


async def test_an_empty_model_stream_fails_with_a_sentence() -> None:
    nothing = ScriptedReply(text="")
    answer = await one_turn(nothing, nothing)
    assert answer.state == "failed"
    assert answer.metadata(ERROR_EXTENSION)[0]["code"] == "empty_response"


@pytest.mark.parametrize(
    ("error", "tries"),
    [(ValueError("No generations found in stream"), 2), (RuntimeError("secret at /srv/x"), 1)],
)
async def test_an_exceptions_text_never_reaches_the_client(error: Exception, tries: int) -> None:
    answer = await one_turn(*[ScriptedReply(error=error)] * tries)
    assert answer.state == "failed"
    shown = "".join(str(event) for event in answer.events)
    assert str(error) not in shown
    assert "Traceback" not in shown
    payload = answer.metadata(ERROR_EXTENSION)[0]
    assert len(payload["trace_id"]) == 32
    assert answer.last_words == payload["message"]


async def test_a_bug_in_a_tool_shows_no_detail_to_model_or_client() -> None:
    model = ScriptedModel(script=[calls(call("lookup", key="bug")), "It failed."])
    async with running_agent(Keys, model=model) as url, connected(url) as client:
        answer = await ask(client, "hello")
    assert answer.metadata(ERROR_EXTENSION)[0]["code"] == "internal_error"
    assert "secret detail" not in str(model.requests[1].messages)
    assert "secret detail" not in str(answer.events)


@pytest.mark.parametrize(
    ("end", "state"),
    [(Completed(), "completed"), (InputRequired("Which one?", "keys"), "input_required")],
)
async def test_an_agent_that_goes_on_after_the_end_is_not_heard(end: AgentEvent, state: str) -> None:
    class Chatty(Keys):
        async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
            yield TextDelta("The answer.")
            yield end
            yield TextDelta(" And another thing.")
            yield Failed("internal_error", "It failed after all.")

    async with running_agent(Chatty, model=ScriptedModel(script=[])) as url, connected(url) as client:
        answer = await ask(client, "hello")
        task = await client.get_task(GetTaskRequest(id=answer.task_id))
    assert answer.state == state
    assert answer.text == "The answer."
    assert len([each for each in answer.statuses if each not in (1, 2)]) == 1
    assert "another thing" not in str(task)


async def test_usage_is_in_the_terminal_status() -> None:
    first = ScriptedReply(tool_calls=[call("lookup", key="a")], usage=Usage(10, 2, 1))
    answer = await one_turn(first, ScriptedReply(text="Done.", usage=Usage(20, 3, 4)))
    assert answer.metadata(USAGE_EXTENSION) == [
        {"keys": {"input_tokens": 30, "output_tokens": 5, "cached_tokens": 5}}
    ]


async def test_the_second_message_of_a_context_sees_the_first() -> None:
    model = ScriptedModel(script=["Hello Ada.", "You are Ada."])
    async with running_agent(Keys, model=model) as url, connected(url) as client:
        first = await ask(client, "I am Ada.")
        await ask(client, "Who am I?", context_id=first.context_id)
    shown = [str(each.content) for each in model.requests[1].messages]
    assert shown[-3:] == ["I am Ada.", "Hello Ada.", "Who am I?"]


async def test_another_message_with_the_id_of_an_earlier_one_is_asked_after_its_answer() -> None:
    model = ScriptedModel(script=["Hello Ada.", "You are Ada."])
    async with running_agent(Keys, model=model) as url, connected(url) as client:
        first = await ask(client, "I am Ada.", message_id="1")
        second = await ask(client, "Who am I?", message_id="1", context_id=first.context_id)
    assert second.text == "You are Ada."
    shown = [str(each.content) for each in model.requests[1].messages]
    assert shown[-3:] == ["I am Ada.", "Hello Ada.", "Who am I?"]


class Unstored(Keys):
    """Fails retryably where its first turn had its answer."""

    failed = False

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        async for event in super().stream(request):
            if isinstance(event, Completed) and not self.failed:
                self.failed = True
                raise ModelUnavailable("The provider is down.")
            yield event


async def test_a_message_that_is_sent_again_after_its_task_failed_is_the_last_that_the_model_sees() -> None:
    model = ScriptedModel(script=["The first answer.", "The second answer."])
    async with running_agent(Unstored, model=model) as url, connected(url) as client:
        failed = await ask(client, "Who am I?", message_id="1", context_id="talk")
        again = await ask(client, "Who am I?", message_id="1", context_id="talk")
    assert (failed.state, again.state) == ("failed", "completed")
    assert again.text == "The second answer."
    shown = [str(each.content) for each in model.requests[1].messages]
    assert shown[-3:] == ["Who am I?", "The first answer.", "Who am I?"]


async def test_two_contexts_at_once_see_nothing_of_each_other() -> None:
    def echo(messages: Any) -> str:
        return " | ".join(str(each.content) for each in messages if each.type == "human")

    async with (
        running_agent(Keys, model=ScriptedModel(script=echo)) as url,
        connected(url) as client,
    ):
        names = [f"secret-{index}" for index in range(20)]
        first = await asyncio.gather(*(ask(client, name) for name in names))
        second = await asyncio.gather(
            *(ask(client, "again", context_id=answer.context_id) for answer in first)
        )
    assert [answer.text for answer in first] == names
    assert [answer.text for answer in second] == [f"{name} | again" for name in names]


async def test_a_canceled_task_starts_no_further_model_call() -> None:
    started, never = asyncio.Event(), asyncio.Event()
    looks = ScriptedReply(tool_calls=[call("lookup", key="a")], started=started, gate=never)
    model = ScriptedModel(script=[looks, "Hello again.", "and again"])
    async with running_agent(Keys, model=model) as url, connected(url) as client:
        asking = asyncio.create_task(ask(client, "hello"))
        await started.wait()
        tasks = await client.list_tasks(_list_all())
        canceled = await client.cancel_task(CancelTaskRequest(id=tasks.tasks[0].id))
        answer = await asking
        never.set()
        # It has to wait for whatever still works on this conversation.
        again = await ask(client, "hello again", context_id=tasks.tasks[0].context_id)
    assert canceled.status.state == TaskState.TASK_STATE_CANCELED
    assert answer.state == "canceled"
    (told,) = answer.metadata(TRACE_EXTENSION)
    assert len(told["trace_id"]) == 32
    assert answer.text == ""
    assert again.text == "Hello again."
    assert len(model.requests) == 2


def _list_all() -> Any:
    from a2a.types.a2a_pb2 import ListTasksRequest

    return ListTasksRequest()
