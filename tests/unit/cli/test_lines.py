"""What is said where standard error is no terminal."""

from __future__ import annotations

import pytest

from multi_agents.cli.service.plan import Planned, ServicePlan
from multi_agents.cli.service.ready import Readiness
from multi_agents.cli.view.sinks import LineSink
from multi_agents.cli.view.startup import PAUSE_SECONDS, Detail, StartupView
from multi_agents.cli.view.state import TurnView
from utils.a2a_common.client.stream.events import ActivityReported
from utils.events import ModelWaited, PlanStep, PlanUpdated, StepStatus, ToolFinished, ToolStarted, ToolStatus


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("multi_agents.cli.view.startup.time.monotonic", lambda: now[0])
    return now


def test_a_process_that_counts_its_documents_takes_a_line_in_ten_seconds_and_one_when_it_is_ready(
    capsys, clock
):
    view = StartupView(ServicePlan([Planned("rag", "agents.rag", 8002, 8002)], {}))
    with view:
        for number in range(1, 41):
            view.report("rag", Readiness(True, ready=False, detail=f"ingesting {number} of 40 documents"))
            clock[0] += PAUSE_SECONDS / 10
        view.report("rag", Readiness(answers=True, ready=True))
    assert capsys.readouterr().err.splitlines() == [
        "rag: ingesting 1 of 40 documents",
        "rag: ingesting 11 of 40 documents",
        "rag: ingesting 21 of 40 documents",
        "rag: ingesting 31 of 40 documents",
        "rag: ready at http://127.0.0.1:8002",
    ]


@pytest.mark.parametrize(
    "state", [Readiness(False, ready=False), Readiness(True, ready=False, detail="busy")]
)
def test_a_start_of_which_only_the_result_is_shown_gives_a_sign_of_life_while_it_takes_long(
    capsys, clock, state
):
    view = StartupView(ServicePlan([Planned("rag", "agents.rag", 8002, 8002)], {}), Detail.RESULT)
    with view:
        for _ in range(25):
            view.report("rag", state)
            clock[0] += PAUSE_SECONDS / 10
        view.report("rag", Readiness(answers=True, ready=True))
    doing = state.detail or "starting"
    assert capsys.readouterr().err.splitlines() == [
        f"rag: {doing}",
        f"rag: {doing}",
        "Started rag in 25 s; the supervisor is at http://127.0.0.1:8002.",
    ]


def test_a_short_start_takes_one_line_and_a_quiet_one_none(capsys, clock):
    for detail in (Detail.RESULT, Detail.FAILURES):
        with StartupView(ServicePlan([Planned("rag", "agents.rag", 8002, 8002)], {}), detail) as view:
            view.report("rag", Readiness(True, ready=False, detail="busy"))
            clock[0] += PAUSE_SECONDS * (0.5 if detail is Detail.RESULT else 5)
            view.report("rag", Readiness(True, ready=False, detail="busy"))
            view.report("rag", Readiness(answers=True, ready=True))
    assert capsys.readouterr().err == "Started rag in 5 s; the supervisor is at http://127.0.0.1:8002.\n"


@pytest.mark.parametrize(
    ("agents", "lines"),
    [
        (["rag"], ["rag: pending", "rag: completed"]),
        (
            ["rag", "github"],
            ["rag: pending", "github: pending", "rag: completed", "github: completed"],
        ),
        (
            ["rag", "rag"],
            [f"rag: {state}: step {number}" for state in ("pending", "completed") for number in (0, 1)],
        ),
    ],
)
def test_a_step_is_told_by_its_agent_and_by_its_words_only_where_the_agent_has_several(capsys, agents, lines):
    view, sink = TurnView(), LineSink()
    for status in (StepStatus.PENDING, StepStatus.COMPLETED):
        steps = tuple(PlanStep(str(n), f"step {n}", agent, status, n) for n, agent in enumerate(agents))
        sink.show(PlanUpdated(steps), view)
    assert capsys.readouterr().err.splitlines() == lines


def test_a_note_has_no_state_and_a_call_has_one(capsys):
    view, sink = TurnView(), LineSink()
    for activity in (
        ModelWaited(2.0),
        ToolStarted("1", "search"),
        ToolFinished("1", "search", ToolStatus.OK, 0.5),
    ):
        event = ActivityReported("rag", activity)
        view.apply(event)
        sink.show(event, view)
    assert capsys.readouterr().err.splitlines() == [
        "waiting for the model (2 s so far)",
        "search: working",
        "search: completed in 0.5 s",
    ]
