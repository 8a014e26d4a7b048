"""Which sub-agents a model is offered when there are many."""

from __future__ import annotations

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from multi_agents.platform_engineer.agent_selector import fitting

AGENTS = {
    "github": "pull requests, issues and workflow runs of repositories",
    "rag": "answers from documents and runbooks",
    "jira": "tickets and sprints",
    "weather": "weather forecasts for cities",
}


def test_the_agents_that_share_words_with_the_request_are_offered() -> None:
    assert fitting(AGENTS, [HumanMessage("Which tickets are in this sprint?")], 1) == {"jira"}
    assert fitting(AGENTS, [HumanMessage("open pull requests and the runbooks")], 2) == {"github", "rag"}


def test_a_follow_up_keeps_what_the_conversation_is_about() -> None:
    talk = [HumanMessage("What is the weather in cities?"), AIMessage("Where?"), HumanMessage("Paris")]
    assert fitting(AGENTS, talk, 1) == {"weather"}


def test_an_agent_that_was_used_stays() -> None:
    talk = [
        HumanMessage("look"),
        ToolMessage("found", tool_call_id="c", name="rag"),
        HumanMessage("Which tickets are there?"),
    ]
    assert fitting(AGENTS, talk, 2) == {"rag", "jira"}


def test_without_any_hint_the_configured_order_decides() -> None:
    assert fitting(AGENTS, [HumanMessage("hm")], 2) == {"github", "rag"}
