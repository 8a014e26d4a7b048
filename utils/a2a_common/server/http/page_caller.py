"""Who the caller of the page is: the page keeps what it stores in a tab for the person who wrote it."""

from __future__ import annotations

import json

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from utils.auth.nonce import digest_of
from utils.auth.principal import PRINCIPAL, Principal


async def whose_page(request: Request) -> Response:
    """`{"caller": "…"}`: the same for all requests of one person, empty for callers whom the agent does not know.

    It is a digest, so that the name stands nowhere in the tab. The guards in front refuse callers without credentials.
    """
    return JSONResponse({"caller": _caller(request)}, headers={"Cache-Control": "no-store"})


def _caller(request: Request) -> str:
    user = request.scope.get("user")
    if user is None or not user.is_authenticated:
        return ""
    principal = getattr(user, PRINCIPAL, None)
    tenant = principal.tenant if isinstance(principal, Principal) else ""
    return digest_of(json.dumps([tenant, user.display_name]))
