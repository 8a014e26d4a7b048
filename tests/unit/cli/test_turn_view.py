from __future__ import annotations

from a2a.types.a2a_pb2 import StreamResponse, TaskStatusUpdateEvent

from multi_agents.cli.view.state import TurnView
from utils.a2a_common.client.stream.decode import decode
from utils.a2a_common.client.stream.events import (
    AgentAway,
    ArtifactChanged,
    MessageReceived,
    PeerEvent,
    StatusChanged,
    TaskSnapshot,
)
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION, TaskError
from utils.events import DataPart, DelegationState, TextPart

SUBMITTED, WORKING = DelegationState.SUBMITTED, DelegationState.WORKING
COMPLETED, FAILED = DelegationState.COMPLETED, DelegationState.FAILED


def seen(*events: PeerEvent) -> TurnView:
    view = TurnView()
    for event in events:
        view.apply(event)
    return view


def activity(kind: str, **fields: object) -> PeerEvent:
    (event,) = reported({"kind": kind, "agent": "rag", **fields})
    return event


def reported(payload: object) -> list[PeerEvent]:
    """The events of a status with this activity, but for the status itself."""
    update = TaskStatusUpdateEvent(metadata={ACTIVITY_EXTENSION: payload})
    events = decode(StreamResponse(status_update=update))
    return [event for event in events if not isinstance(event, StatusChanged)]


def text(artifact_id: str, name: str, text: str, *, append: bool = False) -> ArtifactChanged:
    return ArtifactChanged(artifact_id, name, (TextPart(text),), append=append)


def status(state: DelegationState, text: str = "") -> StatusChanged:
    return StatusChanged("t", "c", state, (TextPart(text),) if text else ())


def test_chunks_are_joined_and_a_restart_replaces_them():
    chunks = [text("response-1", "response", piece, append=True) for piece in ("a", "b")]
    assert seen(*chunks).answer == "ab"
    assert seen(*chunks, text("response-1", "response", "new")).answer == "new"


def test_our_response_artifact_is_the_answer_and_nothing_else_is():
    other = text("x", "notes", "notes")
    assert seen(other, text("response-1", "response", "answer")).answer == "answer"


def test_an_artifact_named_response_hides_no_other_artifact_of_a_foreign_agent():
    view = TurnView(ours=False)
    view.apply(text("1", "response", "The train leaves at 9:14."))
    view.apply(text("2", "details", "Platform 7."))
    assert view.answer == "### response\n\nThe train leaves at 9:14.\n\n### details\n\nPlatform 7."


def test_a_message_or_a_last_status_is_the_answer_of_a_foreign_agent():
    assert seen(MessageReceived((TextPart("hi"),), "c")).answer == "hi"
    assert seen(status(COMPLETED, "done so")).answer == "done so"
    assert seen(status(WORKING, "on it")).answer == ""


def test_a_tool_below_a_delegation_stands_below_it_in_the_tree():
    view = seen(
        activity("tool_started", call_id="1", tool="ask_rag", arguments=""),
        activity("delegation_started", call_id="1", request="find"),
        activity(
            "delegation_progress",
            call_id="1",
            remote_task_id="r",
            state="working",
            activity={
                "kind": "tool_started",
                "agent": "rag",
                "call_id": "7",
                "tool": "search",
                "arguments": "q",
            },
        ),
        activity("delegation_finished", call_id="1", remote_task_id="r", state="failed", seconds=2.0),
    )
    assert [(node.label, node.status, node.seconds) for node in view.nodes] == [("rag", "failed", 2.0)]
    assert [(node.label, node.status) for node in view.nodes[0].children] == [("search", "working")]


def test_malformed_activity_of_a_peer_changes_nothing():
    malformed = [
        {"kind": "tool_finished"},
        {"kind": 7},
        "text",
        {"kind": "tool_finished", "call_id": "1", "tool": "x", "status": "ok", "seconds": "soon"},
        {"kind": "delegation_progress", "call_id": "1", "agent": "x", "remote_task_id": "r", "state": "?"},
    ]
    assert [reported(payload) for payload in malformed] == [[]] * 5


def test_a_question_is_shown_without_the_form_that_programs_read():
    form = DataPart({"form": {"type": "object"}, "origin": "github"})
    asked = StatusChanged("t", "c", DelegationState.INPUT_REQUIRED, (TextPart("May I?"), form))
    assert seen(asked).status_text == "May I?"
    alone = StatusChanged("t", "c", DelegationState.INPUT_REQUIRED, (form,))
    assert "object" in seen(alone).status_text


def test_a_failure_tells_the_error_before_the_status_before_a_default():
    failed = status(FAILED, "status says")
    assert seen(TaskError("x", "error says"), failed).failure == "error says"
    assert seen(failed).failure == "status says"
    assert "gave no reason" in seen(status(FAILED)).failure
    assert seen(status(COMPLETED)).failure == ""


def test_ids_come_from_whatever_event_has_them():
    view = seen(StatusChanged("t1", "c1", WORKING), StatusChanged("", "", WORKING))
    assert (view.task.task_id, view.task.context_id) == ("t1", "c1")
    assert seen(TaskSnapshot("t2", "c2", SUBMITTED)).task.task_id == "t2"


def test_data_that_whoever_passes_a_question_on_has_told_in_words_is_not_shown_again():
    asked = (TextPart("It asks with data: which colour?"), DataPart({"question": "which colour?"}))
    passed_on = seen(StatusChanged("t", "c", DelegationState.INPUT_REQUIRED, asked, origin="painter"))
    assert passed_on.status_text == "It asks with data: which colour?"
    its_own = seen(StatusChanged("t", "c", DelegationState.INPUT_REQUIRED, asked))
    assert '"question"' in its_own.status_text


def test_an_agent_that_is_away_is_waited_for_until_something_is_heard_of_it():
    away = AgentAway(0.5, busy=False)
    (node,) = seen(away).nodes
    assert (node.status, len(node.label) <= 60) == ("working", True)
    (node,) = seen(away, StatusChanged("t", "c", WORKING)).nodes
    assert node.status == "completed"
