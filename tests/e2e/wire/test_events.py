"""Each kind of event that an agent says, as a client sees it over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.e2e.wire.agents import Scripted, card, echo
from tests.e2e.wire.wiring import HEADERS, Wire, message, serving, state
from tests.support.task_logs import memory_log
from utils.a2a_common.execution import response_stream
from utils.a2a_common.execution.executor import BaseLangGraphAgentExecutor
from utils.a2a_common.protocol.extensions import (
    ACTIVITY_EXTENSION,
    ACTIVITY_PLAN,
    CONTEXT_EXTENSION,
    ERROR_EXTENSION,
    PLAN_EXTENSION,
    SCOPE_EXTENSION,
    TREE_EXTENSION,
    USAGE_EXTENSION,
)
from utils.a2a_common.protocol.request import AgentRequest
from utils.a2a_common.server.agent_service import AgentService
from utils.a2a_common.server.app import build_app
from utils.a2a_common.server.card import build_card
from utils.events import (
    Activity,
    AgentEvent,
    Completed,
    ContextCompacted,
    DelegationFinished,
    DelegationProgress,
    DelegationStarted,
    DelegationState,
    Failed,
    InputRequired,
    ModelReasoned,
    ModelRetried,
    ModelWaited,
    PlanStep,
    PlanUpdated,
    RuleChange,
    RuleChanged,
    StepStatus,
    TextDelta,
    ToolFinished,
    ToolStarted,
    ToolStatus,
    Usage,
    UsageReported,
)
from utils.settings import ServerSettings
from utils.testing.live_server import running

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

Step = AgentEvent | Callable[[], Awaitable[Any]]


class Saying:
    """An agent that says what it is given, and waits where it is given something to wait for."""

    name = "saying"

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        for step in self._steps:
            if callable(step):
                await step()
            else:
                yield step

    async def cancel_children(self, task_id: str) -> None:
        """Nothing waits elsewhere."""

    async def forget_calls(self, task_id: str) -> None:
        """It has no tools."""


@asynccontextmanager
async def saying(*steps: Step) -> AsyncIterator[Wire]:
    executor = BaseLangGraphAgentExecutor(Saying(steps))
    app = build_app(
        AgentService(card=card(), executor=executor, log=memory_log()),
        ServerSettings.load({}),
    )
    async with running(app) as url, httpx.AsyncClient(timeout=60, trust_env=False, verify=False) as http:
        yield Wire(url, http, app, Scripted(echo))


async def told(
    *steps: Step, headers: Mapping[str, str] = HEADERS
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The stream, and the task as it is stored."""
    async with saying(*steps) as wire:
        events = await wire.stream(headers)
        return events, await wire.get(events[0]["task"]["id"])


def statuses(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event["statusUpdate"] for event in events if "statusUpdate" in event]


def words(event: dict[str, Any]) -> str:
    update = event.get("artifactUpdate", {})
    return "".join(part.get("text", "") for part in update.get("artifact", {}).get("parts", []))


async def until_said(events: AsyncIterator[dict[str, Any]], text: str) -> None:
    async with asyncio.timeout(60):
        async for event in events:
            if words(event) == text:
                return
    raise AssertionError(f"the stream ended before {text!r}")


async def test_the_first_words_are_sent_at_once_and_later_ones_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(response_stream, "FLUSH_SECONDS", 600)
    heard = asyncio.Event()
    more = [TextDelta(f"{number} ") for number in range(20)]
    async with (
        saying(TextDelta("First."), heard.wait, *more, Completed()) as wire,
        wire.events("SendStreamingMessage", {"message": message()}) as events,
    ):
        await until_said(events, "First.")
        heard.set()
        rest = [words(event) async for event in events]
    assert [text for text in rest if text] == ["".join(event.text for event in more)]


async def test_words_do_not_wait_for_company_that_does_not_come() -> None:
    heard = asyncio.Event()
    async with (
        saying(TextDelta("First."), TextDelta("Second."), heard.wait, Completed()) as wire,
        wire.events("SendStreamingMessage", {"message": message()}) as events,
    ):
        await until_said(events, "First.")
        await until_said(events, "Second.")
        heard.set()


async def test_a_long_piece_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_stream, "FLUSH_SECONDS", 600)
    heard, long = asyncio.Event(), "x" * 512
    async with (
        saying(TextDelta("First."), TextDelta(long), heard.wait, Completed()) as wire,
        wire.events("SendStreamingMessage", {"message": message()}) as events,
    ):
        await until_said(events, long)
        heard.set()


ACTIVITIES: list[tuple[Activity, dict[str, Any]]] = [
    (ToolStarted("c1", "search", 'query="x"'), {"kind": "tool_started", "tool": "search", "arguments": 'query="x"'}),
    (
        ToolFinished("c1", "search", ToolStatus.ERROR, 1.5, truncated=True),
        {"kind": "tool_finished", "tool": "search", "status": "error", "seconds": 1.5, "truncated": True},
    ),
    (DelegationStarted("c1", "keys", "do it"), {"kind": "delegation_started", "agent": "keys", "request": "do it"}),
    (
        DelegationProgress("c1", "keys", "r1", DelegationState.WORKING, {"kind": "tool_started"}),
        {
            "kind": "delegation_progress",
            "agent": "keys",
            "remote_task_id": "r1",
            "state": "working",
            "activity": {"kind": "tool_started"},
        },
    ),
    (
        DelegationFinished("c1", "keys", "r1", DelegationState.COMPLETED, 2.0),
        {"kind": "delegation_finished", "agent": "keys", "remote_task_id": "r1", "state": "completed", "seconds": 2},
    ),
    (
        ContextCompacted("clear", 90, 40, 100, cut="m7", touched=3),
        {
            "kind": "context_compacted",
            "strategy": "clear",
            "tokens_before": 90,
            "tokens_after": 40,
            "limit": 100,
            "cut": "m7",
            "touched": 3,
        },
    ),
    (RuleChanged(RuleChange.PINNED, "Never."), {"kind": "rule_changed", "change": "pinned", "text": "Never."}),
    (ModelRetried("rate_limited", 1, 0.5), {"kind": "model_retried", "reason": "rate_limited", "attempt": 1}),
    (ModelWaited(5.0, begun=True), {"kind": "model_waited", "seconds": 5, "begun": True}),
    (ModelReasoned("The user means the newest."), {"kind": "model_reasoned", "text": "The user means the newest."}),
]  # fmt: skip


@pytest.mark.parametrize(("event", "fields"), ACTIVITIES, ids=[fields["kind"] for _, fields in ACTIVITIES])
async def test_activity_travels_whole_in_the_metadata_of_a_working_status(
    event: Activity, fields: dict[str, Any]
) -> None:
    events, _ = await told(event, Completed())
    found = [each for each in statuses(events) if ACTIVITY_EXTENSION in each.get("metadata", {})]
    assert [state(each) for each in found] == ["working"]
    payload = found[0]["metadata"][ACTIVITY_EXTENSION]
    without_call = {"context_compacted", "rule_changed", "model_retried", "model_waited", "model_reasoned"}
    call = {} if fields["kind"] in without_call else {"call_id": "c1"}
    assert payload == {**payload, "agent": "saying", **call, **fields}
    assert "message" not in found[0]["status"]


async def test_activity_is_never_a_message_of_the_tasks_history() -> None:
    many = [ToolStarted(f"c{number}", "search") for number in range(20)]
    events, task = await told(*many, TextDelta("Done."), Completed())
    assert not [each for each in statuses(events) if "message" in each["status"]]
    assert [entry["role"] for entry in task["history"]] == ["ROLE_USER"]


def _steps(*states: StepStatus) -> PlanUpdated:
    return PlanUpdated(
        [PlanStep(f"s{number}", "Look", "keys", status, 1) for number, status in enumerate(states)]
    )


async def test_the_plan_is_a_payload_of_the_activity_extension_and_no_artifact_unless_it_is_asked_for() -> (
    None
):
    begun, done = _steps(StepStatus.WORKING), _steps(StepStatus.COMPLETED)
    events, task = await told(begun, ToolStarted("c1", "search"), done, TextDelta("Done."), Completed())
    plans = [
        each["metadata"][ACTIVITY_PLAN]
        for each in statuses(events)
        if ACTIVITY_PLAN in each.get("metadata", {})
    ]
    assert [plan["steps"][0]["status"] for plan in plans] == ["working", "completed"]
    assert task["metadata"][ACTIVITY_PLAN] == plans[-1]
    assert {each["artifactId"] for each in task["artifacts"]} == {"response"}
    assert not [
        each for each in events if each.get("artifactUpdate", {}).get("artifact", {}).get("name") == "plan"
    ]


async def test_the_plan_of_a_task_that_is_canceled_leaves_no_step_open() -> None:
    at_work, go_on = asyncio.Event(), asyncio.Event()
    steps = _steps(StepStatus.COMPLETED, StepStatus.WORKING, StepStatus.PENDING)
    tree = (
        DelegationStarted("c1", "keys", "Look"),
        DelegationProgress("c1", "keys", "r1", DelegationState.WORKING),
    )

    async def wait() -> None:
        at_work.set()
        await go_on.wait()

    async with saying(steps, *tree, wait) as wire:
        reading = asyncio.create_task(wire.stream({**HEADERS, "A2A-Extensions": PLAN_EXTENSION}))
        await asyncio.wait_for(at_work.wait(), 60)
        task_id = (await wire.rpc("ListTasks"))["result"]["tasks"][0]["id"]
        await wire.rpc("CancelTask", {"id": task_id})
        events, task = await reading, await wire.get(task_id)
    assert state(task) == "canceled"
    for metadata in (task["metadata"], statuses(events)[-1]["metadata"]):
        assert [step["status"] for step in metadata[ACTIVITY_PLAN]["steps"]] == [
            "completed",
            "canceled",
            "canceled",
        ]
        assert [child["state"] for child in metadata[TREE_EXTENSION]["children"]] == ["canceled"]
    (shown,) = (each for each in task["artifacts"] if each["artifactId"] == "plan")
    assert shown["parts"][0]["data"] == task["metadata"][ACTIVITY_PLAN]


async def test_a_client_that_requests_the_extension_gets_the_plan_as_one_artifact_that_each_change_replaces() -> (
    None
):
    pending = _steps(StepStatus.PENDING, StepStatus.PENDING)
    done = _steps(StepStatus.COMPLETED, StepStatus.FAILED)
    asking = {**HEADERS, "A2A-Extensions": PLAN_EXTENSION}
    events, task = await told(pending, done, TextDelta("Done."), Completed(), headers=asking)
    plans = [
        event["artifactUpdate"]
        for event in events
        if event.get("artifactUpdate", {}).get("artifact", {}).get("artifactId") == "plan"
    ]
    assert [plan.get("append", False) for plan in plans] == [False, False]
    for plan, expected in zip(plans, (["pending"] * 2, ["completed", "failed"]), strict=True):
        (part,) = plan["artifact"]["parts"]
        assert [step["status"] for step in part["data"]["steps"]] == expected
    assert part["data"]["steps"][0] == {
        "id": "s0", "title": "Look", "agent": "keys", "status": "completed", "order": 1,
    }  # fmt: skip
    (stored,) = (each for each in task["artifacts"] if each["artifactId"] == "plan")
    assert stored["parts"] == [part]
    assert {each["artifactId"] for each in task["artifacts"]} == {"plan", "response"}


async def test_usage_comes_with_the_last_status_alone_and_under_a_key_of_its_own() -> None:
    used = UsageReported({"saying": Usage(7, 3, 1)})
    events, task = await told(used, ToolStarted("c1", "search"), TextDelta("Done."), Completed())
    reported = [each for each in statuses(events) if USAGE_EXTENSION in each.get("metadata", {})]
    assert reported == statuses(events)[-1:]
    expected = {"saying": {"input_tokens": 7, "output_tokens": 3, "cached_tokens": 1}}
    assert reported[0]["metadata"][USAGE_EXTENSION] == expected
    assert task["metadata"][USAGE_EXTENSION] == expected
    assert task["metadata"][ACTIVITY_EXTENSION]["kind"] == "tool_started"


async def test_a_question_is_the_message_of_an_input_required_status_that_ends_the_stream() -> None:
    form = {"type": "object", "properties": {"city": {"type": "string"}}}
    events, task = await told(TextDelta("Well."), InputRequired("Which city?", "keys", form))
    last = events[-1]["statusUpdate"]
    assert state(last) == state(task) == "input_required"
    question, asked = last["status"]["message"]["parts"]
    assert question["text"] == "Which city?"
    assert asked["data"] == {"form": form, "origin": "keys"}


async def test_a_failure_is_the_one_terminal_status_with_code_sentence_and_trace_id() -> None:
    events, task = await told(
        TextDelta("Half."), Failed("upstream_unavailable", "It is down.", retryable=True)
    )
    ends = [each for each in statuses(events) if state(each) != "working"]
    assert [state(each) for each in ends] == ["failed"] == [state(task)]
    error = ends[0]["metadata"][ERROR_EXTENSION]
    assert error == {**error, "code": "upstream_unavailable", "message": "It is down.", "retryable": True}
    assert len(error["trace_id"]) == 32
    assert ends[0]["status"]["message"]["parts"] == [{"text": "It is down."}]


async def test_an_error_of_the_agent_ends_the_task_as_failed_and_never_as_completed() -> None:
    async def explode() -> None:
        raise RuntimeError("secret: db password hunter2")

    events, task = await told(TextDelta("Half an ans"), explode, Completed())
    assert [state(each) for each in statuses(events)][-1] == state(task) == "failed"
    assert "hunter2" not in str(events) + str(task)
    assert statuses(events)[-1]["metadata"][ERROR_EXTENSION]["code"] == "internal_error"


async def test_an_agent_that_stops_without_an_end_fails_its_task() -> None:
    events, task = await told(TextDelta("Half an ans"))
    assert [state(each) for each in statuses(events)] == ["working", "failed"]
    assert state(task) == "failed"


async def test_our_extensions_are_declared_on_the_card_and_none_is_required() -> None:
    ours = build_card(
        name="saying", description="Says.", skills=(), version="1", url="http://127.0.0.1:1", model="m"
    )
    async with serving(echo, shown=ours) as wire:
        shown = (await wire.http.get(f"{wire.url}/.well-known/agent-card.json")).json()
    declared = shown["capabilities"]["extensions"]
    wanted = {ACTIVITY_EXTENSION, USAGE_EXTENSION, CONTEXT_EXTENSION, ERROR_EXTENSION, SCOPE_EXTENSION}
    assert wanted <= {each["uri"] for each in declared}
    assert all(each["description"] and not each.get("required") for each in declared)
