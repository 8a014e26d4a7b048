"""Requests to change something, in the ways that people put them, and questions that only sound like one."""

from typing import Annotated

import pytest
from langchain_core.messages import HumanMessage
from pydantic import Field

from tests.eval import routing
from tests.eval.routing_tools import tools_of
from utils.a2a_common import agent_tool
from utils.llm.offline.changes import asked_change


@pytest.fixture(scope="module")
def chat():
    return routing.model()


@pytest.mark.parametrize(
    "request_text",
    [
        "Issue 1 on acme/rocket was closed by mistake - reopen it and leave a note saying sorry",
        "Kick off the deploy workflow on acme/rocket once more, would you?",
        "If the checks on PR 1 in acme/rocket are green, go ahead and squash it into main.",
        "acme/rocket: delete the branch old-stuff",
        "Give PR 2 in acme/rocket your approval",
        "get PR 7 in acme/rocket merged",
        'pls comment "looking into this, back tomorrow" on issue 1 of acme/rocket',
        "could u merge PR 3 of acme/rocket plz",
        "hey, plz label #4 of acme/rocket 'bug, urgent'",
        "Would you mind assigning #3 in acme/rocket to hubot?",
        'Would you mind opening a new issue in acme/rocket with the title "Docs link is dead"?',
        "The branch old-stuff in acme/rocket is of no use. Get rid of it.",
        "Issue 2 in acme/rocket is solved, so it would be lovely if you could close it for me.",
        'I need you to leave a comment under PR 5 of acme/rocket that says "ship it"',
        "start a new release v2 in acme/rocket",
        "slap the label wontfix on #4 of acme/rocket",
        "take the milestone v1 off issue 4 of acme/rocket",
    ],
)
@pytest.mark.parametrize(("agent", "wanted"), [("supervisor", ["github"]), ("github", ["refuse_change"])])
def test_a_change_is_refused_however_it_is_asked_for(chat, agent, wanted, request_text):
    answer = chat.bind_tools(tools_of(agent)).invoke([HumanMessage(request_text)])
    assert [call["name"] for call in answer.tool_calls] == wanted


def test_what_is_to_be_shown_before_a_change_is_shown(chat):
    bound = chat.bind_tools(tools_of("github"))
    answer = bound.invoke([HumanMessage("Show me issue 1 of acme/rocket and then close it")])
    assert [call["name"] for call in answer.tool_calls] == ["get_issue", "refuse_change"]


@pytest.mark.parametrize(
    "question",
    [
        "Anything still waiting to be merged over at acme/rocket?",
        "Was PR 5 of acme/rocket closed by mistake?",
        "Who merged pull request 2 in acme/rocket?",
        "How do I close an issue?",
        "show issues of acme/rocket, label bug",
        "commit 7fd1a60 of acme/rocket",
        "release notes of acme/rocket",
        "open README.md of acme/rocket",
        "get the pull requests merged last week in acme/rocket",
        "count the issues that are open and have nobody assigned",
        "start of the log",
        "list the labels on issue 4 of acme/rocket",
        "explain the label wontfix on #4 of acme/rocket",
    ],
)
def test_a_question_about_a_change_is_none(question):
    assert asked_change(question) is None


@agent_tool(examples=["Scrap the widget Red", "Bin the widget Green"], approval="scrap a widget")
async def scrap_widget(name: Annotated[str, Field(description="Name of the widget.")]) -> str:
    """Scrap one widget."""
    return name


@agent_tool(examples=["List the widgets"], read_only=True)
async def list_widgets() -> str:
    """List all widgets."""
    return "Red, Green"


def test_a_verb_that_an_example_of_a_change_begins_with_asks_for_it(chat):
    bound = chat.bind_tools([scrap_widget.build(), list_widgets.build()])
    asked = [
        bound.invoke([HumanMessage(said)]).tool_calls
        for said in ("Scrap the widget Blue", "please bin the widget Red")
    ]
    assert [[(call["name"], call["args"]) for call in calls] for calls in asked] == [
        [("scrap_widget", {"name": "Blue"})],
        [("scrap_widget", {"name": "Red"})],
    ]
    reading = bound.invoke([HumanMessage("List the widgets")])
    assert [call["name"] for call in reading.tool_calls] == ["list_widgets"]


def test_what_an_agent_can_change_stands_in_the_list_of_what_it_can_do(chat):
    text = (
        chat.bind_tools([scrap_widget.build(), list_widgets.build()])
        .invoke([HumanMessage("What can you do?")])
        .text
    )
    assert [line.split(":")[0] for line in text.split("\n") if line.startswith("- **")] == [
        "- **list widgets**",
        "- **scrap widget**",
    ]
    assert "- Scrap the widget Red" not in text
