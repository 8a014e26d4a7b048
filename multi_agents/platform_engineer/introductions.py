"""The descriptions of the sub-agents on the supervisor's card, for clients that show them to a person."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from utils.a2a_common.client.agents.registry import SubAgent
from utils.a2a_common.protocol.card_options import CardOptions
from utils.a2a_common.protocol.extensions import AGENTS_EXTENSION
from utils.a2a_common.protocol.skill import REFUSED

_MOST_EXAMPLES = 4
_LONGEST_EXAMPLE = 200


def with_introductions(options: CardOptions, agents: Iterable[SubAgent]) -> CardOptions:
    """The options, and each agent's name, a sentence about it, and requests of different skills."""
    params = {"agents": [_introduction(agent) for agent in agents]}
    return replace(
        options,
        extensions={
            **options.extensions,
            AGENTS_EXTENSION: "The agents behind this one, with requests that are for them.",
        },
        extension_params={**options.extension_params, AGENTS_EXTENSION: params},
    )


def _introduction(agent: SubAgent) -> dict[str, Any]:
    skills = agent.card.skills if agent.card is not None else ()
    offered = [skill for skill in skills if REFUSED not in skill.tags and skill.examples]
    firsts = dict.fromkeys(skill.examples[0] for skill in offered)
    further = dict.fromkeys(example for skill in offered for example in skill.examples)
    short = [example for example in {**firsts, **further} if len(example) <= _LONGEST_EXAMPLE]
    return {"name": agent.name, "description": agent.summary, "examples": short[:_MOST_EXAMPLES]}
