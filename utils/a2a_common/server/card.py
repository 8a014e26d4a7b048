"""An agent's card, built from what the agent says of itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from utils.a2a_common.protocol.extensions import (
    ACTIVITY_EXTENSION,
    CONTEXT_EXTENSION,
    ERROR_EXTENSION,
    NEXT_EXTENSION,
    QUESTION_EXTENSION,
    SCOPE_EXTENSION,
    USAGE_EXTENSION,
)
from utils.a2a_common.protocol.output_modes import OUTPUT_MODES
from utils.a2a_common.protocol.skill import Skill

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import AgentCard

_EXTENSIONS = {
    ACTIVITY_EXTENSION: "Tool calls, delegations and compactions as they happen, in status metadata.",
    USAGE_EXTENSION: "Tokens used by each agent, in the last status' metadata.",
    CONTEXT_EXTENSION: "What the last model request held; a data part that asks to forget the conversation.",
    ERROR_EXTENSION: "Code, sentence and trace id of a failure, in the last status' metadata.",
    NEXT_EXTENSION: "What the user is likely to ask next, in the last status' metadata.",
    QUESTION_EXTENSION: "Which agent asks, in the metadata of a question that is not the agent's own.",
    SCOPE_EXTENSION: "Accepts the scoped context of a delegation as a data part.",
}
_INPUT_MODES = ("text/plain", "text/markdown", "application/json")


def build_card(
    *, name: str, description: str, skills: Sequence[Skill], version: str, url: str, model: str
) -> AgentCard:
    """The card of an agent that is reached at `url` and answers with `model`.

    JSON-RPC stands at the root of `url` and HTTP+JSON under `/rest`, each in protocol 1.0 and 0.3. gRPC
    is left out: clients refuse a whole card over an address without a scheme. An agent that names no
    skill offers its description as one, since a card must have a skill and supervisors route by them.
    """
    from a2a.types.a2a_pb2 import (
        AgentCapabilities,
        AgentCard,
        AgentExtension,
        AgentInterface,
        AgentSkill,
    )

    base = url.rstrip("/")
    return AgentCard(
        name=name,
        description=f"{description} Answers with {model}.",
        version=version,
        supported_interfaces=[
            AgentInterface(url=address, protocol_binding=binding, protocol_version=protocol)
            for protocol in ("1.0", "0.3")
            for binding, address in (("JSONRPC", f"{base}/"), ("HTTP+JSON", f"{base}/rest"))
        ],
        capabilities=AgentCapabilities(
            streaming=True,
            push_notifications=True,
            extensions=[AgentExtension(uri=uri, description=text) for uri, text in _EXTENSIONS.items()],
        ),
        default_input_modes=list(_INPUT_MODES),
        default_output_modes=list(OUTPUT_MODES),
        skills=[
            AgentSkill(
                id=skill.id,
                name=skill.name,
                description=skill.description,
                tags=list(skill.tags) or [name],
                examples=list(skill.examples),
            )
            for skill in skills or (Skill(name, name, description, (description,)),)
        ],
    )
