"""What a user is likely to ask next."""

from __future__ import annotations

from agents.github.agent import GitHubAgent
from multi_agents.platform_engineer.suggestions import MOST, likely_next

GITHUB = [example for skill in GitHubAgent.skills for example in skill.examples]
SEARCH = [
    "How do I add a sub-agent?",
    "What does the documentation say about authentication?",
    "Read docs/add-an-agent.md in full",
]


def test_the_likeliest_requests_are_about_what_was_spoken_of() -> None:
    said = ["Which pull requests of acme/api are open?", "List the open pull requests of acme/api."]
    foretold = likely_next(said, {"github": GITHUB})
    assert len(foretold) == MOST
    assert all("acme/api" in text for text in foretold)
    assert any("pull request" in text.lower() for text in foretold)
    assert not {text.lower() for text in foretold} & {text.lower().rstrip(".") for text in said}


def test_no_number_and_no_file_is_invented() -> None:
    foretold = likely_next(["Show the pull requests of acme/api"], {"github": GITHUB}, most=100)
    assert foretold
    assert not any(character.isdigit() or character == "#" for character in " ".join(foretold))
    assert not any(".py" in text or ".md" in text for text in foretold)


def test_a_number_that_was_said_may_come_again() -> None:
    foretold = likely_next(["Show issue 7 of acme/api"], {"github": ["Is issue 7 of a/b fixed?"]})
    assert foretold == ["Is issue 7 of acme/api fixed?"]


def test_without_a_topic_only_examples_without_one_are_foretold() -> None:
    examples = {"rag": SEARCH, "github": ["List the open issues of a/b"]}
    foretold = likely_next(["Explain how authentication works, as the documentation has it"], examples)
    assert foretold == ["What does the documentation say about authentication?"]


def test_what_has_nothing_to_do_with_the_conversation_is_not_foretold() -> None:
    assert likely_next(["zebra"], {"rag": SEARCH}) == []
    assert likely_next([], {"rag": SEARCH}) == []
    assert likely_next(["How do I add a sub-agent?"], {}) == []
