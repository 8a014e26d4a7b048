"""The command `/memory`: what the agent remembers of the person, and how it is forgotten."""

from __future__ import annotations

from multi_agents.cli.console import say
from multi_agents.cli.peer.connection import Peer
from multi_agents.cli.peer.memories import NOTHING, forgotten, lines_of, remembered
from utils.a2a_common.protocol.memories import MemoryAction, MemoryRequest

USAGE = (
    "/memory lists what is remembered about you; /memory search WORDS, /memory add TEXT, /memory forget NUMBER and "
    "/memory forget all."
)


def may_change(argument: str) -> bool:
    """Whether what is typed after the command asks for a change."""
    return argument.partition(" ")[0] in {"add", "forget"}


async def memory(peer: Peer, argument: str) -> None:
    """Do what is typed after the command.

    Raises:
        CliError: The agent cannot be asked, or refuses.
    """
    action, _, text = argument.partition(" ")
    match action, text.strip():
        case "", _:
            _list(lines_of(await remembered(peer, MemoryRequest(MemoryAction.LIST))))
        case "search", words if words:
            _list(lines_of(await remembered(peer, MemoryRequest(MemoryAction.SEARCH, words))))
        case "add", said if said:
            _list(lines_of(await remembered(peer, MemoryRequest(MemoryAction.ADD, said))))
        case "forget", which if which:
            for line in lines_of(await forgotten(peer, which)):
                say(f"Forgotten: {line.partition('. ')[2]}")
        case _:
            say(USAGE)


def _list(lines: list[str]) -> None:
    for line in lines or [NOTHING]:
        say(line)
