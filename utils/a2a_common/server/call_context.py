"""Builds the context of a call and checks the protocol's headers."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from a2a.extensions.common import HTTP_EXTENSION_HEADER, get_requested_extensions
from a2a.server.context import ServerCallContext
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.types.a2a_pb2 import AgentCard
from a2a.utils.errors import ExtensionSupportRequiredError, VersionNotSupportedError
from starlette.requests import Request

from utils.a2a_common.protocol.version import LEGACY, note_version
from utils.auth.credential import keep_credential
from utils.auth.principal import PRINCIPAL

VERSION_HEADER = "A2A-Version"
_LEGACY_EXTENSION_HEADER = "X-A2A-Extensions"
EXTENSION_HEADERS = (HTTP_EXTENSION_HEADER, _LEGACY_EXTENSION_HEADER)
"""What clients of protocol 1.0 and of 0.3 name extensions in."""

_SERVED = re.compile(r"(?P<line>1\.0|0\.3)(\.\d{1,9})?")


def served_version(asked: str) -> str:
    """The protocol version to answer in: `Major.Minor` must match, a patch number is ignored.

    Args:
        asked: What the client sent; empty means 0.3, as the specification has it.

    Raises:
        VersionNotSupportedError: Another version was asked for.
    """
    if not asked:
        return LEGACY
    match = _SERVED.fullmatch(asked)
    if match is None:
        raise VersionNotSupportedError("This agent speaks A2A 1.0 and 0.3. Set A2A-Version to one of them.")
    return match["line"]


def active_extensions(requested: Sequence[str], card: AgentCard) -> str:
    """The value of a header that names the active extensions: those requested that the card declares, in its order.

    Args:
        requested: The values of the header in the request.
        card: What the agent offers.
    """
    asked = get_requested_extensions(list(requested))
    return ", ".join(each.uri for each in card.capabilities.extensions if each.uri in asked)


def check_extensions(requested: Collection[str], required: frozenset[str]) -> None:
    """Refuse a caller that does not declare what the card requires.

    Raises:
        ExtensionSupportRequiredError: Names the missing extensions.
    """
    missing = required.difference(requested)
    if missing:
        raise ExtensionSupportRequiredError(
            f"Declare support for {', '.join(sorted(missing))} in the {HTTP_EXTENSION_HEADER} header."
        )


class CallContextBuilder(DefaultServerCallContextBuilder):
    """Builds the context of an HTTP call; version and extensions are refused here."""

    def __init__(self, required: frozenset[str]) -> None:
        self._required = required

    def build(self, request: Request) -> ServerCallContext:
        """The context of `request`.

        Raises:
            VersionNotSupportedError: The version asked for is not served.
            ExtensionSupportRequiredError: A required extension is not declared.
        """
        context = super().build(request)
        headers: dict[str, Any] = context.state["headers"]
        version = served_version(_asked(headers, request.query_params))
        headers[VERSION_HEADER.lower()] = version
        note_version(context, version)
        legacy = request.headers.getlist(_LEGACY_EXTENSION_HEADER)
        context.requested_extensions |= get_requested_extensions(legacy)
        check_extensions(context.requested_extensions, self._required)
        principal = getattr(request.scope.get("user"), PRINCIPAL, None)
        if principal is not None:
            context.state[PRINCIPAL] = principal
            keep_credential(context.state, headers.get("authorization", ""))
        without_credentials(headers)
        return context


def without_credentials(headers: dict[str, Any]) -> None:
    """Remove the credentials from the headers of a call: no later code needs them."""
    for name in ("authorization", "proxy-authorization", "cookie"):
        headers.pop(name, None)


def _asked(headers: Mapping[str, Any], query: Mapping[str, str]) -> str:
    asked = str(headers.get(VERSION_HEADER.lower()) or "")
    by_name = {name.lower(): value for name, value in query.items()}
    return (asked or by_name.get(VERSION_HEADER.lower(), "")).strip()
