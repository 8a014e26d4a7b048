"""What the card of any A2A agent must say."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from utils.net.loopback import is_loopback
from utils.testing.contract.session import Broken, Session

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import AgentInterface

_CONNECT_SECONDS = 10.0

REQUIRED = (
    "name",
    "description",
    "version",
    "capabilities",
    "defaultInputModes",
    "defaultOutputModes",
    "skills",
)


async def card_is_complete(session: Session) -> None:
    """The fields that every version of the card requires."""
    missing = [name for name in REQUIRED if name not in session.raw_card]
    if missing:
        raise Broken(f"the card lacks {', '.join(missing)}")
    for skill in session.card.skills:
        if not (skill.id and skill.name and skill.description):
            raise Broken(f"skill {skill.id or '(without id)'} lacks id, name or description")
        if not skill.tags:
            raise Broken(f"skill {skill.id} lacks tags")


async def interfaces_are_reachable(session: Session) -> None:
    """Clients connect to the addresses in the card."""
    for interface in session.card.supported_interfaces:
        parts = urlsplit(interface.url)
        if interface.protocol_binding != "GRPC" and (
            parts.scheme not in {"http", "https"} or not parts.hostname
        ):
            raise Broken(f"{interface.url!r} is no absolute address")
        if is_loopback(interface.url) and not is_loopback(session.url):
            raise Broken(f"the card names {interface.url}, which is another machine for whoever reads it")
        if not await _answers(session, interface):
            raise Broken(f"nobody answers at {interface.url}")


async def _answers(session: Session, interface: AgentInterface) -> bool:
    """Whether something listens at an address. Other checks examine its responses."""
    try:
        async with asyncio.timeout(min(session.seconds, _CONNECT_SECONDS)):
            if interface.protocol_binding == "GRPC":
                parts = urlsplit(interface.url if "//" in interface.url else f"//{interface.url}")
                _, writer = await asyncio.open_connection(parts.hostname, parts.port or 443)
                writer.close()
            else:
                async with session.http.stream("GET", interface.url):
                    pass
    except (httpx.ConnectError, httpx.ConnectTimeout, OSError, TimeoutError):
        return False
    except httpx.HTTPError:  # it listens, but does not accept GET
        return True
    return True
