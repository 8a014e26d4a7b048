"""An argument is what the user wrote, letter for letter, or a value that the tool or the clock gives."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from tests.eval import routing, routing_data
from tests.eval.routing_tools import tools_of
from utils.llm.embedded import EmbeddedChatModel
from utils.llm.offline.dates import period

_WORD = re.compile(r"\w+")


@pytest.fixture(scope="module")
def chat():
    return routing.model()


def _called(chat: EmbeddedChatModel, agent: str, *messages):
    answer = chat.bind_tools(tools_of(agent)).invoke(list(messages))
    assert isinstance(answer, AIMessage)
    return [(call["name"], call["args"]) for call in answer.tool_calls]


@pytest.mark.parametrize(
    "word", ["loop", "lint", "mode", "slow", "five", "four", "point", "held", "three", "store", "lits"]
)
def test_a_word_is_searched_for_as_it_was_written(chat, word):
    request = f"Search octocat/hello-world for the word {word}"
    assert _called(chat, "supervisor", HumanMessage(request)) == [("github", {"request": request})]
    ((name, arguments),) = _called(chat, "github", HumanMessage(request))
    assert (name, arguments["query"]) == ("search_code", word)


@pytest.mark.parametrize("topic", ["rest apis", "mail servers", "slow queries", "linting"])
def test_a_topic_is_searched_for_as_it_was_written(chat, topic):
    ((name, arguments),) = _called(chat, "github", HumanMessage(f"find repositories about {topic}"))
    assert (name, arguments["query"]) == ("search_repositories", topic)


@pytest.mark.parametrize(
    "question",
    [
        "how do I store packages?",
        "explain the task store in three sentences",
        "What is the held back mode for five minutes?",
        "What has to be upgraded first?",
        "first time here. which command starts it?",
        "Second replica does not start, how do I see its logs?",
        "wich setings do I need?",
    ],
)
def test_a_question_reaches_the_documents_as_it_was_written(chat, question):
    assert _called(chat, "supervisor", HumanMessage(question)) == [("rag", {"request": question})]
    assert _called(chat, "rag", HumanMessage(question)) == [("search", {"query": question})]


def test_an_address_in_a_question_stays_an_address(chat):
    question = "What do the docs say about https://github.com/acme/rocket/pull/87?"
    ((_, arguments),) = _called(chat, "rag", HumanMessage(question))
    assert arguments["query"] == question


_TEMPLATES = (
    "Search acme/rocket for the word {}",
    "find repositories about {}",
    "How do I {} the {}?",
    "explain {} in {} words",
    "list the issues of acme/rocket labelled {}",
    "show the commits of acme/rocket on branch {} by {}",
    "lst the opne pul requests of {}/{}",
    'search the code for "{} {}" in acme/rocket',
)
_words = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=9).filter(
    lambda word: not any(any(period(text, routing_data.clock())) for text in (word, f"since {word}"))
)
"""None says a time, "yesterday", which an argument says in another form."""


def _allowed(agent: str, tool: str, name: str) -> set[str]:
    """Words that an argument's own schema gives: its choices and its default."""
    bound = next(each for each in tools_of(agent) if each.name == tool)
    properties = convert_to_openai_tool(bound)["function"]["parameters"]["properties"]
    return set(_WORD.findall(str(properties[name])))


@pytest.mark.slow
@given(st.sampled_from(_TEMPLATES), st.lists(_words, min_size=2, max_size=2))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_argument_holds_a_word_that_the_user_did_not_write(template, filled):
    request = template.format(*filled)
    model = EmbeddedChatModel(None, now=routing_data.clock)
    said = set(_WORD.findall(request))
    for agent in ("supervisor", "github", "rag"):
        for tool, arguments in _called(model, agent, HumanMessage(request)):
            for name, value in arguments.items():
                words = set(_WORD.findall(str(value)))
                assert words <= said | _allowed(agent, tool, name), (request, tool, name, value)


def _cases() -> Iterator[dict]:
    yield from routing_data.dataset()["cases"]


@pytest.mark.long  # 334 requests; words made at random show the same above
def test_no_argument_of_any_labelled_request_holds_a_word_that_nobody_wrote(chat):
    invented = []
    for case in _cases():
        messages = routing_data.messages_of(case)
        said = set(_WORD.findall(" ".join(f"{m.content} {getattr(m, 'tool_calls', '')}" for m in messages)))
        for tool, arguments in _called(chat, case["agent"], *messages):
            for name, value in arguments.items():
                if isinstance(value, bool) or name in {"since", "until", "limit"}:
                    continue  # a switch, what the clock gives, and a count ("five", or one for "the latest")
                words = set(_WORD.findall(str(value)))
                if not words <= said | _allowed(case["agent"], tool, name):
                    invented.append((case["id"], name, value))
    assert invented == []


_LOG = "2026-03-18T11:02:07Z supervisor-7c9 ERROR [pool] connection to 10.0.0.7:5432 timed out\n"
_QUESTION = "How do I read the log of the supervisor?"


@pytest.mark.parametrize("request_text", [f"{_LOG * 60}{_QUESTION}", f"{_QUESTION}\n{_LOG * 60}"])
def test_of_a_pasted_log_the_question_is_searched_for_and_the_answer_says_so(chat, request_text):
    bound = chat.bind_tools(tools_of("rag"))
    called = bound.invoke([HumanMessage(request_text)])
    assert [call["args"] for call in called.tool_calls] == [{"query": _QUESTION}]
    result = ToolMessage('{"articles": []}', tool_call_id=called.tool_calls[0]["id"])
    answer = bound.invoke([HumanMessage(request_text), called, result]).text
    assert "too long" in answer
    assert f"“{_QUESTION}”" in answer


def test_of_a_long_text_without_a_question_the_end_is_searched_for(chat):
    request = "What is this?\n".replace("?", ".") + _LOG * 60
    ((_, arguments),) = _called(chat, "rag", HumanMessage(request))
    assert len(arguments["query"]) <= 2000
    assert arguments["query"] in request
