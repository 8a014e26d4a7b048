"""Posts a form to an authorisation server (RFC 6749): bounded in size and time, without redirects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from utils.auth.discovery import Unavailable
from utils.net.loopback import is_loopback

_LARGEST = 65_536


async def post_form(
    url: str, form: Mapping[str, str], *, seconds: float, client: tuple[str, str] | None = None
) -> tuple[bool, Mapping[str, Any]]:
    """Post a form; returns whether the request succeeded, and the JSON object of the response.

    Args:
        url: The endpoint.
        form: The fields of the request.
        seconds: Longest wait for each part of the response.
        client: ID and secret of the client, sent as HTTP Basic; none is sent if omitted.

    Raises:
        Unavailable: The server cannot be reached, or the response is not that of an authorisation server.
    """
    import httpx

    from utils.net.bounded import Bound
    from utils.net.web_client import web_client

    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    try:
        async with web_client(Bound(_LARGEST), timeout=seconds, trust_env=not is_loopback(url)) as http:
            response = await http.post(
                url, data=form, headers=headers, auth=client or httpx.USE_CLIENT_DEFAULT
            )
        payload = json.loads(response.content)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError) as error:
        raise Unavailable from error
    if not isinstance(payload, Mapping):
        raise Unavailable
    return response.is_success, payload
