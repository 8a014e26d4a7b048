"""Requests that nobody writes by hand: a part of them is read, the answer says so, and an agent gets the words as they are."""

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from tests.eval.routing_tools import tools_of
from tests.unit.llm_offline.support import NOW, Desk
from utils.llm.offline.conversation import LONGEST_GAP, LONGEST_WORD, READ
from utils.llm.offline.plan import NOT_ALL_READ
from utils.llm.offline.reply import CUT, reply
from utils.llm.offline.similarity import Similarity
from utils.llm.offline.tools import ToolSpec, payload, specs

MEGABYTES = 3_900_000


@pytest.fixture
def tools() -> list[ToolSpec]:
    return specs([payload(tool) for tool in Desk().tools()])


def answer(text: str, tools: list[ToolSpec]) -> str:
    """What is said of a request, after the calls that it leads to have found nothing."""
    messages: list[BaseMessage] = [HumanMessage(text)]
    decided = reply(messages, tools, Similarity(None), NOW)
    if decided.calls:
        made = [{"id": each.id, "name": each.name, "args": dict(each.arguments)} for each in decided.calls]
        messages.append(AIMessage("", tool_calls=made))
        messages += [ToolMessage("Nothing was found.", tool_call_id=each.id) for each in decided.calls]
        decided = reply(messages, tools, Similarity(None), NOW)
    assert not decided.calls
    return decided.text


@pytest.mark.timeout(60)  # a hundredth of it took minutes
@pytest.mark.parametrize("unit", ["a", "1", "[", "a-", "1.", "a/", "a ", "a, ", "#1 ", "\n- a"])
@pytest.mark.long
def test_a_request_of_millions_of_characters_is_answered_and_the_answer_says_that_a_part_was_read(
    unit, tools
):
    assert answer(unit * (MEGABYTES // len(unit)), tools).startswith(CUT)


@pytest.mark.timeout(60)  # some of them took minutes
@pytest.mark.parametrize(
    "unit",
    [
        "e/f ",
        "a/b and ",
        "'a' ",
        "“a ",
        "“a” ",
        "1 ",
        "#1, ",
        "? ",
        "( ",
        "a\u3000",
        "a_b-",
        "x Abc Abc- ",
        "no prs, ",
        "which issue is ",
        "who most ",
        "where is a ",
        "please ",
        "then ",
        "thanks for a ",
        "compare between ",
    ],
)
def test_a_hostile_request_is_answered_by_the_platform_and_by_an_agent(unit):
    for agent in ("supervisor", "github"):
        bound = specs([payload(tool) for tool in tools_of(agent)])
        assert reply([HumanMessage(unit * (READ // len(unit)))], bound, Similarity(None), NOW)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        f"thanks for {'a' * LONGEST_WORD}!",
        f"List the issues of {'a_' * 200}.",
        "ask " + "Abc " * 100 + "Abc-",
    ],
)
def test_a_name_that_could_be_read_in_many_ways_is_read_in_one(text, tools):
    assert reply([HumanMessage(text)], tools, Similarity(None), NOW)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("blank", [" ", "\n", "\t", "\u3000"])
def test_endless_blanks_within_a_request_are_read_as_a_few_and_nothing_is_said_of_them(blank, tools):
    request = f"List the open pull requests{blank * MEGABYTES}of octocat/hello-world"
    (call,) = reply([HumanMessage(request)], tools, Similarity(None), NOW).calls
    assert (call.name, call.arguments["repo"]) == ("list_pull_requests", "hello-world")
    assert CUT not in answer(request, tools)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("ending", [" and so on" * READ, " for " + "x" * READ, " " * LONGEST_GAP * 2 + "now"])
def test_an_agent_gets_the_words_as_they_are_although_a_part_of_them_was_read(ending):
    request = f"List the open pull requests of octocat/hello-world{ending}"
    bound = specs([payload(tool) for tool in tools_of("supervisor")])
    (call,) = reply([HumanMessage(request)], bound, Similarity(None), NOW).calls
    assert (call.name, call.arguments) == ("github", {"request": request})


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", ["a", "a-", "1.", " ", "a "])
def test_a_request_after_an_endless_one_is_answered_too(unit):
    bound = specs([payload(tool) for tool in tools_of("supervisor")])
    endless = f"List the open pull requests of octocat/hello-world {unit * (MEGABYTES // len(unit))}."
    call = {"id": "1", "name": "github", "args": {"request": endless}}
    told: list[BaseMessage] = [HumanMessage(endless), AIMessage("", tool_calls=[call])]
    told += [ToolMessage("None.", tool_call_id="1"), AIMessage("None."), HumanMessage("and the closed ones?")]
    (again,) = reply(told, bound, Similarity(None), NOW).calls
    assert again.name == "github"


def test_a_request_that_is_read_whole_says_nothing_of_it(tools):
    assert CUT not in answer("How do I add a new sub-agent? " + "So " * 2_600, tools)


@pytest.mark.parametrize(
    "order", ["Comment on issue 3 of octocat/hello-world: ", "Please close issue 3 of octocat/hello-world. "]
)
def test_no_change_is_made_whose_words_were_not_all_read(order):
    bound = specs([payload(tool) for tool in tools_of("github")])
    assert any(tool.changes for tool in bound)
    said = reply([HumanMessage(order + '"and so on, ' * READ + '"')], bound, Similarity(None), NOW)
    assert not said.calls
    assert NOT_ALL_READ in said.text
