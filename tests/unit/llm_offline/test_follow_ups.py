"""A message that leans on the one before: on its call, on the one row that it showed, or on nothing, since it is small talk."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from tests.eval import routing
from tests.eval.routing_tools import tools_of
from utils.messages.results import Items, Record, dump_result

ISSUE = Record(kind="issue", item={"number": 7, "title": "Leaks", "author": "mona"})
RUNS = Items(kind="workflow runs", items=[{"id": 30433642, "number": 562, "status": "failure"}])


@pytest.fixture(scope="module")
def models():
    model = routing.model()
    return {agent: model.bind_tools(tools_of(agent)) for agent in ("supervisor", "github")}


def _next_calls(model, said, result, then):
    """The calls for `then`, after `said` was answered from `result`."""
    history: list[Any] = [HumanMessage(said)]
    first = model.invoke(history)
    history += [first, ToolMessage(dump_result(result), tool_call_id=first.tool_calls[0]["id"])]
    history += [AIMessage("That is it."), HumanMessage(then)]
    return [(call["name"], call["args"]) for call in model.invoke(history).tool_calls]


@pytest.mark.parametrize(
    "then",
    [
        "does it have any comments?",
        "which files does it touch?",
        "is it assigned to anybody?",
        "has it been closed?",
        "and which labels?",
        "and in which milestone is that?",
    ],
)
def test_a_question_about_what_an_issue_has_stays_with_the_issue(models, then):
    said = "Who opened issue 7 of acme/rocket?"
    assert _next_calls(models["supervisor"], said, ISSUE, then) == [("github", {"request": then})]
    assert _next_calls(models["github"], said, ISSUE, then) == [
        ("get_issue", {"owner": "acme", "repo": "rocket", "number": 7})
    ]


def test_a_question_about_the_service_leaves_the_issue(models):
    then = "does it run without docker?"
    calls = _next_calls(models["supervisor"], "Who opened issue 7 of acme/rocket?", ISSUE, then)
    assert calls == [("rag", {"request": then})]


@pytest.mark.parametrize(
    ("then", "sort"),
    [("its most recently updated issue", "updated"), ("and its most commented issue?", "comments")],
)
def test_the_first_of_a_list_by_one_of_its_columns_is_another_question_than_that_for_the_repository(
    models, then, sort
):
    result = Record(kind="repository", item={"name": "acme/rocket", "default_branch": "main"})
    ((name, arguments),) = _next_calls(models["github"], "default branch of acme/rocket", result, then)
    assert (name, arguments["sort"], arguments["limit"]) == ("list_issues", sort, 1)


def test_the_same_of_another_repository_keeps_the_call(models):
    calls = _next_calls(
        models["github"], "What is issue 7 in acme/rocket?", ISSUE, "same for octo-org/octo-repo"
    )
    assert calls == [("get_issue", {"owner": "octo-org", "repo": "octo-repo", "number": 7})]


def test_the_only_row_of_a_list_is_the_one_that_is_spoken_of(models):
    calls = _next_calls(models["github"], "any failed runs in acme/rocket?", RUNS, "what broke in that one?")
    assert calls == [("get_workflow_run", {"owner": "acme", "repo": "rocket", "run_id": 30433642})]


@pytest.mark.parametrize(
    ("then", "says"),
    [
        ("never mind, I found it on my own", "All right."),
        ("ha, of course it is. typical.", "All right."),
        ("That was not my question. This is useless.", "I am sorry"),
        ("Right, that's me done for the week. Enjoy your weekend!", "Goodbye."),
        ("thanks so much, that is just the list my boss wanted", "You're welcome."),
        ("lol ok that was quicker than asking my colleague. cheers", "You're welcome."),
        ("do you really understand me or do you only compare words?", "a program and no person"),
    ],
)
def test_small_talk_after_an_answer_looks_nothing_up(models, then, says):
    said = "What is issue 7 in acme/rocket?"
    first = models["github"].invoke([HumanMessage(said)])
    result = ToolMessage(dump_result(ISSUE), tool_call_id=first.tool_calls[0]["id"])
    reply = models["github"].invoke(
        [HumanMessage(said), first, result, AIMessage("It is."), HumanMessage(then)]
    )
    assert reply.tool_calls == []
    assert says in reply.text
