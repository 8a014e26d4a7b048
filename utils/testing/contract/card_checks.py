"""What the card of any A2A agent must say."""

from __future__ import annotations

from urllib.parse import urlsplit

from utils.net.loopback import is_loopback
from utils.testing.contract.session import Broken, Session

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


async def interfaces_are_reachable(session: Session) -> None:
    """Clients connect to what the card says."""
    for interface in session.card.supported_interfaces:
        parts = urlsplit(interface.url)
        if interface.protocol_binding != "GRPC" and (
            parts.scheme not in {"http", "https"} or not parts.hostname
        ):
            raise Broken(f"{interface.url!r} is no absolute address")
        if is_loopback(interface.url) and not is_loopback(session.url):
            raise Broken(f"the card names {interface.url}, which is another machine for whoever reads it")
