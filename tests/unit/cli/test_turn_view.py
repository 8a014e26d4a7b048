from __future__ import annotations

from multi_agents.cli.peer.events import (
    ActivitySeen,
    ErrorSeen,
    MessageSeen,
    PeerEvent,
    StatusSeen,
    TaskSeen,
    TextSeen,
)
from multi_agents.cli.view.state import TurnView


def seen(*events: PeerEvent) -> TurnView:
    view = TurnView()
    for event in events:
        view.apply(event)
    return view


def activity(kind: str, **fields: object) -> ActivitySeen:
    return ActivitySeen({"kind": kind, "agent": "rag", **fields})


def test_chunks_are_joined_and_a_restart_replaces_them():
    chunks = [TextSeen("response-1", "response", text, append=True) for text in ("a", "b")]
    assert seen(*chunks).answer == "ab"
    assert seen(*chunks, TextSeen("response-1", "response", "new", append=False)).answer == "new"


def test_our_response_artifact_is_the_answer_and_nothing_else_is():
    other = TextSeen("x", "notes", "notes", append=False)
    assert seen(other, TextSeen("response-1", "response", "answer", append=False)).answer == "answer"


def test_a_message_or_a_last_status_is_the_answer_of_a_foreign_agent():
    assert seen(MessageSeen("hi", "c")).answer == "hi"
    assert seen(StatusSeen("t", "c", "completed", "done so")).answer == "done so"
    assert seen(StatusSeen("t", "c", "working", "on it")).answer == ""


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
    assert seen(ActivitySeen({"kind": "tool_finished"}), ActivitySeen({"kind": 7})).nodes == []


def test_a_failure_tells_the_error_before_the_status_before_a_default():
    failed = StatusSeen("t", "c", "failed", "status says")
    assert seen(ErrorSeen("x", "error says"), failed).failure == "error says"
    assert seen(failed).failure == "status says"
    assert "gave no reason" in seen(StatusSeen("t", "c", "failed")).failure
    assert seen(StatusSeen("t", "c", "completed")).failure == ""


def test_ids_come_from_whatever_event_has_them():
    view = seen(StatusSeen("t1", "c1", "working"), StatusSeen("", "", "working"))
    assert (view.task_id, view.context_id) == ("t1", "c1")
    assert seen(TaskSeen("t2", "c2", "submitted")).task_id == "t2"
