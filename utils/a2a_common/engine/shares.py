"""`FairShares`: which callers hold the places for turns, and which caller gets the next one. Pure; both engines use it.

A caller may hold a multiple of the free places. So its share shrinks as others come, without a list of all callers: one
alone gets three quarters, two get three sevenths each, and a place is always left for a caller that holds none. Turns
that only wait, for example for an agent that does not answer, therefore delay only their own caller.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache

from utils.a2a_common.protocol.owner import parts_of

CALLER_TIMES = 3
"""How many times the free places one caller may hold: three quarters of all places if no other caller holds any."""

TENANT_TIMES = 7
"""The same for all callers of a tenant together: seven eighths. Callers without a tenant have no such limit."""

Caller = tuple[str, str]
"""A tenant, which may be empty, and an owner in it."""


@lru_cache(maxsize=4096)
def caller_of(conversation: str) -> Caller:
    """The caller that owns a conversation, by its key. A key that names no owner counts as a caller of its own."""
    try:
        owner, _ = json.loads(conversation)
        tenant, _ = parts_of(owner)
    except (TypeError, ValueError):
        return "", conversation
    return tenant, owner


def leaves_room(held: int, free: int, times: int) -> bool:
    """Whether a caller that holds `held` places may take one of the free ones. The last free place is kept for a caller that holds none."""
    return free > 0 and (held == 0 or held < times * (free - 1))


class FairShares:
    """The places for turns, and how many each caller holds.

    Args:
        places: How many there are.
        fair: Whether they are shared among the callers; otherwise any caller may take a free one.
    """

    def __init__(self, places: int, *, fair: bool) -> None:
        self._fair = fair
        self._callers: Counter[Caller] = Counter()
        self._tenants: Counter[str] = Counter()
        self.free = places

    def take(self, caller: Caller, places: int = 1) -> None:
        """Give a caller further places, without a check."""
        self.free -= places
        self._callers[caller] += places
        self._tenants[caller[0]] += places

    def open_to(self, caller: Caller) -> bool:
        """Whether a caller may take a place now."""
        if not self._fair:
            return self.free > 0
        tenant, _ = caller
        if tenant and not leaves_room(self._tenants[tenant], self.free, TENANT_TIMES):
            return False
        return leaves_room(self._callers[caller], self.free, CALLER_TIMES)

    def rank(self, caller: Caller) -> tuple[int, int]:
        """Sort key of the waiting callers: first by the places that their tenant holds, then by their own; fewest first."""
        return (self._tenants[caller[0]], self._callers[caller]) if self._fair else (0, 0)
