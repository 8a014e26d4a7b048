from __future__ import annotations

from agents.github.agent import GitHubAgent
from utils.a2a_common.client.agents.registry import SubAgent
from utils.a2a_common.protocol.skill import Skill
from utils.a2a_common.server.card import build_card

MODEL = "openai-compatible qwen2.5-coder-1.5b"


def known(description: str, skills: tuple[Skill, ...] = ()) -> SubAgent:
    card = build_card(
        name="a", description=description, skills=skills, version="1", url="http://127.0.0.1:1", model=MODEL
    )
    return SubAgent("a", "http://127.0.0.1:1", card, reachable=True)


def test_every_skill_of_a_shipped_agent_is_told_whole():
    said = known(GitHubAgent.description, GitHubAgent.skills).description
    assert all(skill.description in said for skill in GitHubAgent.skills)


def test_another_agents_model_is_told_to_people_only():
    agent = known("Reads GitHub.")
    assert agent.card is not None
    assert agent.card.description == f"Reads GitHub. Answers with {MODEL}."
    assert agent.description.startswith("Reads GitHub. ")
    assert MODEL not in agent.description


def test_a_description_that_speaks_of_answers_stays():
    words = "Answers with " + "tables of what was found in the catalogue of services, " * 4
    assert words.strip() in known(f"It is kind. {words}").description


def test_a_hostile_description_is_cut_between_words():
    said = known("endless " * 2_000).description
    assert len(said) <= 4_000
    assert said.endswith("endless …")
