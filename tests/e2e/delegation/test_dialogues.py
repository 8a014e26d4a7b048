"""Follow-ups that complete an earlier request: the models are checked for what they are shown.

Each dialogue runs in two ways: a sub-agent's question is relayed and its task goes on, or the
supervisor asks in an answer of its own and the next message of the conversation completes it.
"""

from __future__ import annotations

import pytest
from a2a.types.a2a_pb2 import TaskState

from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.teams import results, sent_ids, team, words_alone
from utils.testing.scripted_model import ScriptedModel, ScriptedRequest, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

DIALOGUES = [
    pytest.param(
        ["Find restaurants near me and make a list", "07103"],
        ["I need your location. Please provide a ZIP code or city name."],
        id="location",
    ),
    pytest.param(
        ["Compare iPhone vs Samsung", "iPhone 15 Pro and Galaxy S24"],
        ["Which models would you like to compare?"],
        id="comparison",
    ),
    pytest.param(
        ["Book a flight", "New York to London", "December 15-22"],
        ["Where are you flying from and to?", "What dates?"],
        id="flight",
    ),
    pytest.param(["What's the weather?", "New York"], ["I need a location."], id="weather"),
    pytest.param(["Book a restaurant", "Italian in Manhattan"], ["What type and location?"], id="restaurant"),
]


def talk(request: ScriptedRequest) -> list[tuple[str, str]]:
    """The conversation as a model is shown it, without the prompt and tool calls."""
    shown = [(m.type, words_alone(m)) for m in request.messages]
    return [(kind, text) for kind, text in shown if kind in ("human", "ai") and text]


@pytest.mark.parametrize(("said", "asked"), DIALOGUES)
async def test_the_supervisors_own_question_is_answered_by_the_next_message(
    said: list[str], asked: list[str]
) -> None:
    task = f"{said[0]}: {', '.join(said[1:])}"
    script = [*asked, calls(call("words", request=task)), "Here it is."]
    async with team(script, words=["It is done."]) as it, connected(it.url) as client:
        context, answers = "", []
        for text in said:
            answer = await ask(client, text, context_id=context)
            context = answer.context_id
            answers.append(answer.text)
    assert answers == [*asked, "Here it is."]
    alternating = [
        part
        for pair in zip(said, [*asked, ""], strict=True)
        for part in zip(("human", "ai"), pair, strict=True)
    ]
    deciding, joining = it.supervisor.requests[-2:]
    assert talk(deciding) == alternating[:-1]  # every parameter so far, in order
    assert talk(joining) == alternating[:-1]  # and what was answered before, so that nothing is repeated
    assert results(it.supervisor) == ["It is done."]
    assert talk(it.models["words"].requests[0]) == [("human", task)]


@pytest.mark.parametrize(("said", "asked"), DIALOGUES)
async def test_a_sub_agents_questions_are_answered_in_its_own_task(said: list[str], asked: list[str]) -> None:
    tools = ["where", "when"][: len(asked)]
    asker = [*(calls(call(tool, tool)) for tool in tools), "It is done."]
    script = [calls(call("asker", request=said[0])), "Here it is."]
    async with team(script, asker=asker) as it, connected(it.url) as client:
        answer = await ask(client, said[0])
        task_id, context_id = answer.task_id, answer.context_id
        for text in said[1:]:
            assert answer.state == "input_required"
            answer = await ask(client, text, task_id=task_id, context_id=context_id)
        tasks = await it.tasks("asker")
    assert (answer.state, answer.text) == ("completed", "Here it is.")
    assert results(it.models["asker"]) == [f"The user said {text}" for text in said[1:]]
    assert len(tasks) == 1
    assert len(sent_ids(tasks[0])) == len(said)


async def test_a_new_topic_is_a_new_task_and_asks_its_own_question_again() -> None:
    script = [
        calls(call("words", "c1", request="The weather in Paris")),
        "Sunny in Paris.",
        calls(call("asker", "c2", request="Find restaurants near the user")),
        "Found in Newark.",
    ]
    asker = [calls(call("where")), "Three places."]
    async with team(script, words=["Sunny."], asker=asker) as it, connected(it.url) as client:
        first = await ask(client, "Weather in Paris")
        second = await ask(client, "Find restaurants near me", context_id=first.context_id)
        third = await ask(client, "Newark", task_id=second.task_id)
        tasks = await it.tasks("asker")
    assert first.task_id != second.task_id
    assert (second.state, second.last_words) == ("input_required", "Which city?")
    assert third.text == "Found in Newark."
    assert len(tasks) == 1
    told: ScriptedModel = it.models["asker"]
    assert '"Sunny."' in str(told.requests[0].messages[-1].content)  # quoted as an earlier result
    assert talk(told.requests[0]) == [("human", "Find restaurants near the user")]


@pytest.mark.parametrize("named", [False, True], ids=["in the conversation", "naming the task"])
async def test_a_request_that_is_repeated_while_a_question_waits_is_asked_again_and_answers_nothing(
    named: bool,
) -> None:
    text = "Show me the best restaurants of the city"
    script = [calls(call("asker", "c1", request=text)), calls(call("asker", "c2", request=text)), "Booked."]
    async with (
        team(script, asker=[calls(call("where")), calls(call("where")), "It is done."]) as it,
        connected(it.url) as client,
    ):
        first = await ask(client, text)
        where = {"task_id": first.task_id} if named else {}
        second = await ask(client, f" {text.lower()}!", context_id=first.context_id, **where)
        third = await ask(client, "Newark", context_id=first.context_id)
        tasks = await it.tasks("asker")
    assert (first.state, second.state, third.state) == ("input_required", "input_required", "completed")
    assert [TaskState.Name(task.status.state) for task in tasks] == [
        "TASK_STATE_CANCELED",
        "TASK_STATE_COMPLETED",
    ]
    assert third.text == "Booked."
