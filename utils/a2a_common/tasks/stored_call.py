"""The call of a turn that another process accepted, as far as it is stored."""

from __future__ import annotations

from a2a.auth.user import UnauthenticatedUser, User
from a2a.server.context import ServerCallContext

from utils.a2a_common.protocol.request import ANSWERED_TASK
from utils.a2a_common.tasks.turn import Turn


class StoredUser(User):
    """The caller of a turn that an earlier process accepted: it was authenticated there."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def is_authenticated(self) -> bool:
        """Yes."""
        return True

    @property
    def user_name(self) -> str:
        """The name of the user."""
        return self._name


def stored_call(turn: Turn) -> ServerCallContext:
    """The call of a turn that an earlier process accepted, without its credentials, which are not stored."""
    state: dict[str, object] = {"headers": dict(turn.trace)}
    if turn.judged:
        state[ANSWERED_TASK] = turn.task_id
    return ServerCallContext(
        state=state,
        user=StoredUser(turn.user) if turn.user else UnauthenticatedUser(),
        tenant=turn.tenant,
        requested_extensions=set(turn.extensions),
    )
