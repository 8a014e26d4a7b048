"""Builds an agent's card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from utils.a2a_common.protocol.card_description import with_model
from utils.a2a_common.protocol.card_options import CardOptions
from utils.a2a_common.protocol.conversations import CONVERSATIONS_EXTENSION
from utils.a2a_common.protocol.extensions import (
    ACTIVITY_EXTENSION,
    ARTIFACT_EXTENSION,
    CONTEXT_EXTENSION,
    ERROR_EXTENSION,
    MATCHES_ANSWERS,
    NEXT_EXTENSION,
    PLAN_EXTENSION,
    QUESTION_EXTENSION,
    READ_ONLY_EXTENSION,
    SCOPE_EXTENSION,
    TRACE_EXTENSION,
    USAGE_EXTENSION,
)
from utils.a2a_common.protocol.media_modes import INPUT_MODES, OUTPUT_MODES
from utils.a2a_common.protocol.rules import RULES_EXTENSION
from utils.a2a_common.protocol.skill import Skill
from utils.errors import SettingsError

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface

    from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent

_EXTENSIONS = {
    ACTIVITY_EXTENSION: "Plan, tool calls, delegations and compactions as they happen, in status metadata.",
    PLAN_EXTENSION: "The plan as an artifact too, for clients that request this extension.",
    USAGE_EXTENSION: "Tokens used by each agent, in the last status' metadata.",
    CONTEXT_EXTENSION: "What the last model request held; a data part that asks to forget the conversation.",
    ERROR_EXTENSION: "Code, sentence and trace id of a failure, in the last status' metadata.",
    TRACE_EXTENSION: "The trace id of a turn, in the last status' metadata.",
    NEXT_EXTENSION: "What the user is likely to ask next, in the last status' metadata.",
    QUESTION_EXTENSION: "Which agent asks, in the metadata of a question that is not the agent's own.",
    ARTIFACT_EXTENSION: "Size, digest and origin of an artifact, in its metadata.",
    RULES_EXTENSION: "Standing rules: a data part that lists, adds or removes them; the rules in status metadata.",
    CONVERSATIONS_EXTENSION: "A data part that lists, renames, exports or deletes the caller's conversations.",
    SCOPE_EXTENSION: "Accepts the scoped context of a delegation as a data part.",
}
_NO_OPTIONS = CardOptions()


def build_card(
    *,
    name: str,
    description: str,
    skills: Sequence[Skill],
    version: str,
    url: str,
    model: str,
    input_modes: Sequence[str] = INPUT_MODES,
    output_modes: Sequence[str] = OUTPUT_MODES,
    options: CardOptions = _NO_OPTIONS,
) -> AgentCard:
    """The card of an agent that is reached at `url` and answers with `model`.

    JSON-RPC is served at the root of `url` and HTTP+JSON under `/rest`, each in protocol 1.0 and 0.3. gRPC is announced
    where `options` names its address. An agent that names no skill offers its description as one, since a card must have
    a skill and supervisors route by them.

    Raises:
        SettingsError: A security scheme or requirement has not the form of the protocol.
    """
    from a2a.types.a2a_pb2 import AgentCard, AgentSkill

    card = AgentCard(
        name=name,
        description=with_model(description, model),
        version=version,
        documentation_url=options.documentation_url,
        supported_interfaces=_interfaces(url.rstrip("/"), options.grpc_url),
        capabilities=_capabilities(options),
        default_input_modes=list(input_modes),
        default_output_modes=list(output_modes),
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
    if options.icon_url:
        card.icon_url = options.icon_url
    _announce_security(card, options)
    return card


def with_matched_answers(options: CardOptions, agent_class: type[BaseLangGraphAgent]) -> CardOptions:
    """The options. They declare whether the agent itself decides if a message without a task answers its question."""
    from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent

    if agent_class.is_answer is BaseLangGraphAgent.is_answer:
        return options
    params = {**options.extension_params.get(QUESTION_EXTENSION, {}), MATCHES_ANSWERS: True}
    return replace(options, extension_params={**options.extension_params, QUESTION_EXTENSION: params})


def with_read_only(options: CardOptions) -> CardOptions:
    """The options. They declare that the agent changes nothing."""
    extensions = {**options.extensions, READ_ONLY_EXTENSION: "The agent changes nothing: it only reads."}
    return replace(options, extensions=extensions)


def _interfaces(base: str, grpc_url: str) -> list[AgentInterface]:
    from a2a.types.a2a_pb2 import AgentInterface

    addresses = [("JSONRPC", f"{base}/"), ("HTTP+JSON", f"{base}/rest")]
    if grpc_url:
        addresses.append(("GRPC", grpc_url))
    return [
        AgentInterface(url=address, protocol_binding=binding, protocol_version=protocol)
        for protocol in ("1.0", "0.3")
        for binding, address in addresses
    ]


def _capabilities(options: CardOptions) -> AgentCapabilities:
    from a2a.types.a2a_pb2 import AgentCapabilities, AgentExtension

    capabilities = AgentCapabilities(
        streaming=options.streaming,
        push_notifications=options.push_notifications,
        extensions=[
            AgentExtension(uri=uri, description=text, required=uri in options.required_extensions)
            for uri, text in {**_EXTENSIONS, **options.extensions}.items()
        ],
    )
    for extension in capabilities.extensions:
        if extension.uri in options.extension_params:
            extension.params.update(dict(options.extension_params[extension.uri]))
    return capabilities


def _announce_security(card: AgentCard, options: CardOptions) -> None:
    from google.protobuf import json_format

    requirements = [
        {"schemes": {name: {"list": list(scopes)} for name, scopes in each.items()}}
        for each in options.security
    ]
    announced = {"securitySchemes": dict(options.security_schemes), "securityRequirements": requirements}
    try:
        json_format.ParseDict(announced, card)
    except json_format.ParseError as error:
        raise SettingsError(
            "card_options",
            f"The security schemes of the {card.name} agent have not the form of the protocol.",
        ) from error
