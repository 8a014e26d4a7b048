"""What a user is likely to ask next."""

from __future__ import annotations

from a2a.types.a2a_pb2 import AgentCard

from agents.github.agent import GitHubAgent
from multi_agents.platform_engineer.suggestions import MOST, likely_next
from utils.a2a_common.client.agents.registry import SubAgent

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


def test_an_example_that_shares_one_word_of_many_is_not_foretold() -> None:
    examples = [
        "Which open source projects are there for load testing?",
        "Give me the full text of the security document",
    ]
    assert likely_next(["List the open pull requests"], {"github": examples}) == []
    assert likely_next(["my social security number is 7"], {"rag": examples}) == []


def test_a_repository_alone_is_no_reason_to_foretell_what_else_can_be_asked_about_it() -> None:
    examples = ["How many stars does a/b have?", "Which license does a/b have?", "List the releases of a/b"]
    assert likely_next(["please close issue 1 in acme/api, it is a duplicate"], {"github": examples}) == []
    assert likely_next(["search the code of acme/api for timeouts"], {"github": examples}) == []


def test_words_of_asking_and_a_single_shared_word_are_no_reason_either() -> None:
    examples = [
        "What does the documentation say about authentication?",
        "How do I switch to another model?",
        "Which kinds of files can be read?",
        "Send traces to a collector",
    ]
    asked = [
        "We have runbooks in a shared folder and want documented answers from those",
        "Only the model of another company is allowed",
        "Will a user see stack traces or secrets in files?",
    ]
    for request in asked:
        assert likely_next([request], {"rag": examples}) == [], request


def test_a_request_that_the_agent_would_refuse_is_not_foretold() -> None:
    card = AgentCard(name="github")
    for skill in GitHubAgent.skills:
        card.skills.add(id=skill.id, examples=skill.examples, tags=skill.tags)
    agent = SubAgent("github", "http://127.0.0.1:1", card)
    said = ["Which pull requests of acme/api are open?", "List the open pull requests of acme/api."]
    foretold = likely_next(said, {"github": agent.offered_examples}, most=100)
    assert foretold
    assert not any(text.startswith(("Open", "Merge", "Close")) for text in foretold)
