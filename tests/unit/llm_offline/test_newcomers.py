"""What a newcomer asks about the product is looked up in the documents and never sent to another service."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from tests.eval import routing
from tests.eval.routing_tools import tools_of


@pytest.fixture(scope="module")
def chat():
    return routing.model()


def _answer(chat, agent, request):
    answer = chat.bind_tools(tools_of(agent)).invoke([HumanMessage(request)])
    assert isinstance(answer, AIMessage)
    return answer


@pytest.mark.parametrize(
    "question",
    [
        "How do I set the log level?",
        "How do I change the log level?",
        "How can I see the logs?",
        "How do I update to a new version?",
        "How do I report a bug?",
        "How do I turn on debug logging?",
        "How do I run it in Docker?",
        "Which Python version do I need?",
        "What does it cost to run?",
        "shares: results",
        "Which permissions does GITHUB_TOKEN need to read issues?",
    ],
)
def test_a_question_about_the_product_goes_to_the_documents(chat, question):
    calls = _answer(chat, "supervisor", question).tool_calls
    assert [(call["name"], call["args"]) for call in calls] == [("rag", {"request": question})]


@pytest.mark.parametrize(
    "request_text",
    [
        "What pull requests are open right now?",
        "Show me the open issues",
        "How do I build kubernetes/kubernetes according to its README?",
        "Search GitHub for a markdown linter",
    ],
)
def test_what_names_a_repository_or_asks_for_the_rows_of_one_goes_to_the_code_host(chat, request_text):
    assert [call["name"] for call in _answer(chat, "supervisor", request_text).tool_calls] == ["github"]


def test_a_repository_that_is_not_named_is_asked_for(chat):
    answer = _answer(chat, "github", "What pull requests are open right now?")
    assert answer.tool_calls == []
    assert "Which repository" in answer.text


@pytest.mark.parametrize(
    "question", ["How do I turn on debug logging?", "How do I run it in Docker?", "Why is it slow?"]
)
def test_a_question_is_not_searched_for_among_repositories(chat, question):
    assert _answer(chat, "github", question).tool_calls == []


def test_whether_a_file_is_read_is_looked_up_and_the_file_not_fetched(chat):
    calls = _answer(chat, "rag", "If I set SUB_AGENTS, is agents.yaml still read?").tool_calls
    assert [call["name"] for call in calls] == ["search"]


def test_words_as_settings_are_written_are_looked_up(chat):
    said = "Difference between shares: nothing, shares: request and shares: results?"
    assert [call["name"] for call in _answer(chat, "supervisor", said).tool_calls] == ["rag"]


@pytest.mark.parametrize(
    "said",
    ["morning!", "mornin! how's life", "good evening", "hey there", "morning! coffee first, then we talk"],
)
def test_a_greeting_is_greeted(chat, said):
    answer = _answer(chat, "supervisor", said)
    assert not answer.tool_calls
    assert answer.text.startswith("Hello.")


def test_a_greeting_before_an_order_does_not_hide_it(chat):
    assert _answer(chat, "supervisor", "morning! Book a flight to Paris").text.startswith("I cannot help")
