"""Who sent the gRPC call that is handled."""

from __future__ import annotations

from contextvars import ContextVar

from a2a.auth.user import User

from utils.auth.principal import Principal

_caller: ContextVar[Principal | None] = ContextVar("grpc_caller", default=None)


class KnownCaller(User):
    """A caller of a gRPC call as the SDK has it.

    Attributes:
        principal: The verified caller.
    """

    def __init__(self, principal: Principal) -> None:
        self.principal = principal

    @property
    def is_authenticated(self) -> bool:
        """Yes."""
        return True

    @property
    def user_name(self) -> str:
        """The key of the caller."""
        return self.principal.name


def current_caller() -> KnownCaller | None:
    """The verified caller of the current call; `None` if callers are not verified."""
    caller = _caller.get()
    return KnownCaller(caller) if caller is not None else None


def set_caller(caller: Principal | None) -> None:
    """Note the caller for what handles this call."""
    _caller.set(caller)
