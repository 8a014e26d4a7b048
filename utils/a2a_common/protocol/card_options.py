"""Optional fields of an agent's card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class CardOptions:
    """Fields of an agent's card that an author may set.

    The card only announces: an agent that announces a security scheme must enforce it too, with `http_middleware()`.

    Attributes:
        documentation_url: A page for people.
        icon_url: A picture of the agent.
        grpc_url: Where clients reach gRPC, with a scheme if possible: some clients refuse a card with an address that
            has none. gRPC is not announced without it.
        streaming: Whether streams are offered; `SendStreamingMessage` is refused otherwise.
        push_notifications: Whether webhooks are offered; their configuration is refused otherwise.
        extensions: Further extensions of the agent: what each is for, by its URI.
        extension_params: Their parameters on the card, by their URIs; JSON objects.
        required_extensions: Those of them that a client must declare to be answered.
        security_schemes: By name, in the JSON form of the card: `{"key": {"httpAuthSecurityScheme": {"scheme": "bearer"}}}`.
        security: Which schemes a caller needs, any one of the list: `[{"key": []}]`.
    """

    documentation_url: str = ""
    icon_url: str = ""
    grpc_url: str = ""
    streaming: bool = True
    push_notifications: bool = True
    extensions: Mapping[str, str] = field(default_factory=dict)
    extension_params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    required_extensions: Sequence[str] = ()
    security_schemes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    security: Sequence[Mapping[str, Sequence[str]]] = ()
