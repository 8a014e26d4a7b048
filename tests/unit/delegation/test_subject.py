"""Whether a reply answers the question or begins something else."""

from __future__ import annotations

from typing import Any

import pytest

from multi_agents.platform_engineer.subject import Subject, is_other_subject, judge
from utils.errors import ModelUnavailable
from utils.testing.scripted_model import ScriptedModel, call, calls

ANSWERS = [
    ("I need your location. Which ZIP code or city?", "07103"),
    ("Which models would you like to compare?", "iPhone 15 Pro and Galaxy S24"),
    ("Where are you flying from and to?", "New York to London"),
    ("What dates?", "December 15-22"),
    ("What type and location?", "Italian in Manhattan"),
    ("Comment on issue 7?", "yes"),
    ("Comment on issue 7?", "no, do not"),
    ("Which city?", "What do you mean by city?"),
    ("Which repository shall be searched?", "search the repository octocat/hello-world"),
]
OTHERS = [
    ("Which city?", "Never mind, what do the docs say about releases?"),
    ("Which city?", "Forget it."),
    ("Which city?", "Something else: list my pull requests"),
]


@pytest.mark.parametrize(("question", "reply"), ANSWERS)
def test_what_answers_is_taken_as_an_answer(question: str, reply: str) -> None:
    assert judge(question, reply) is Subject.ANSWER


@pytest.mark.parametrize(("question", "reply"), OTHERS)
def test_who_gives_up_asking_is_understood(question: str, reply: str) -> None:
    assert judge(question, reply) is Subject.OTHER


def test_a_filled_form_is_always_an_answer() -> None:
    assert judge("Which city?", "never mind", [{"city": "Newark"}]) is Subject.ANSWER


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Which city?", "Can you list the open issues of octocat/hello-world?"),
        ("May I send a comment on #5?", "Could you show me the docs about releases?"),
        ("Which city?", "What options do I have to deploy this on Kubernetes?"),
        ("Which repository do you mean?", "I want to see how the agents are deployed"),
    ],
)
async def test_a_polite_request_for_something_else_is_another_subject(question: str, reply: str) -> None:
    assert await is_other_subject(question, reply, (), None)


@pytest.mark.parametrize("reply", ["What do you mean?", "Which ones are there?", "What options do I have?"])
def test_asking_back_about_the_question_is_taken_as_an_answer(reply: str) -> None:
    assert judge("Which repository do you mean?", reply) is Subject.ANSWER


async def test_a_request_that_shares_nothing_with_the_question_is_another_subject() -> None:
    asked = ("Which city?", "What do the docs say about releases?", ())
    assert await is_other_subject(*asked, None)


@pytest.mark.parametrize(
    ("said", "other"),
    [
        (calls(call("classify_reply", kind="new")), True),
        (calls(call("classify_reply", kind="answer")), False),
        ('{"kind": "answer"}', False),
        ("It is not a new request, I think.", True),
    ],
)
async def test_a_configured_model_decides_what_the_rule_cannot(said: Any, other: bool) -> None:
    model = ScriptedModel(script=[said])
    asked = ("Which of them?", "Find the cheapest laptops", ())
    assert await is_other_subject(*asked, model) is other
    assert "'Which of them?'" in str(model.requests[0].messages[1].content)


async def test_a_model_that_is_down_leaves_it_to_the_rule() -> None:
    model = ScriptedModel(script=[ModelUnavailable("down")])
    assert await is_other_subject("Which city?", "What do the docs say about releases?", (), model)


async def test_no_model_is_asked_about_a_plain_answer() -> None:
    model = ScriptedModel(script=[])
    assert not await is_other_subject("Which city?", "Newark", (), model)
    assert model.requests == []
