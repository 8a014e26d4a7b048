"""The text of a comment and the title of an issue stand in a call as they were written."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import StructuredTool

from agents.github.changes.tools import CHANGES
from tests.eval import routing


@pytest.fixture(scope="module")
def chat():
    bound = [
        StructuredTool(
            name=spec.name,
            description=spec.description,
            args_schema=spec.arguments,
            func=lambda **_: "",
            metadata={"examples": list(spec.examples), "changes": True},
        )
        for spec in CHANGES
    ]
    return routing.model().bind_tools(bound)


LINK = "https://github.com/acme/rocket/pull/7"


@pytest.mark.parametrize(
    ("said", "number", "text"),
    [
        ("Comment on issue 1 of acme/rocket: thank you", 1, "thank you"),
        ("acme/rocket: comment on issue 1: thank you, see #7", 1, "thank you, see #7"),
        (f'comment "see {LINK}" on issue 1 in acme/rocket', 1, f"see {LINK}"),
        (f"Comment on issue 1 of acme/rocket: see {LINK}", 1, f"see {LINK}"),
        (
            "Post a comment on issue 3 of acme/rocket saying thanks a lot for all of it",
            3,
            "thanks a lot for all of it",
        ),
        ('make comment "looks good" at pull request 9 in acme/rocket', 9, "looks good"),
    ],
)
def test_a_comment_is_what_stands_in_quotes_after_a_colon_or_after_saying(chat, said, number, text):
    call = chat.invoke([HumanMessage(said)]).tool_calls[0]
    assert call["name"] == "comment_on_issue"
    assert (call["args"]["number"], call["args"]["body"]) == (number, text)


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ('create an issue "Crash in src/main.py" in acme/rocket', "Crash in src/main.py"),
        ("open an issue in acme/rocket: the build is broken", "the build is broken"),
        ("Open a new issue in acme/rocket titled Build fails on Windows", "Build fails on Windows"),
    ],
)
def test_a_title_is_no_file_that_it_names(chat, said, title):
    assert chat.invoke([HumanMessage(said)]).tool_calls[0]["args"]["title"] == title


@pytest.mark.parametrize(
    "said", ["Comment on issue 1 of acme/rocket", "comment thank you on issue 1 of acme/rocket"]
)
def test_a_text_whose_end_nothing_shows_is_asked_for_and_taken_as_it_is_answered(chat, said):
    asked = chat.invoke([HumanMessage(said)])
    assert asked.tool_calls == []
    assert "?" in str(asked.content)
    said_again = [HumanMessage(said), AIMessage(asked.content), HumanMessage("Shipped, see #9!")]
    assert chat.invoke(said_again).tool_calls[0]["args"]["body"] == "Shipped, see #9!"
