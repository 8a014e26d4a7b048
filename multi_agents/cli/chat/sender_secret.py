"""The secret by which an agent knows that the messages of a conversation come from the same person."""

from __future__ import annotations

from multi_agents.cli.peer.connection import Peer
from multi_agents.cli.service.local import home_folder
from utils.auth.nonce import nonce_for
from utils.auth.secret_file import secret_in

_FILE = "chat.key"


def secret_for(peer: Peer, context_id: str) -> str:
    """The secret of a conversation, the same in the next chat; empty for an agent that does not ask for one."""
    if not peer.connection.knows_senders:
        return ""
    return nonce_for(secret_in(home_folder() / _FILE), context_id)
