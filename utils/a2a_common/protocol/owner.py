"""Who owns a task: the tenant and the user of the call that created it."""

from __future__ import annotations

import json
from functools import lru_cache

from a2a.server.context import ServerCallContext


def owner_of(context: ServerCallContext) -> str:
    """The key that tasks and push configurations are stored under.

    A list in JSON, since a separator could be part of a name. Anonymous callers of one tenant
    share one scope: without authentication they cannot be distinguished.
    """
    user = context.user.user_name if context.user.is_authenticated else ""
    return _key(context.tenant, user)


def parts_of(owner: str) -> tuple[str, str]:
    """Tenant and user of such a key; the user of anonymous callers is empty."""
    tenant, user = json.loads(owner)
    return tenant, user


@lru_cache(maxsize=1024)
def _key(tenant: str, user: str) -> str:
    return json.dumps([tenant, user], ensure_ascii=False)
