"""Asks an authorisation server (RFC 6749) by a form: bounded in size and time, without redirects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from utils.auth.discovery import Unavailable
from utils.net.loopback import is_loopback

_LARGEST = 65_536


async def posted_form(
    url: str, form: Mapping[str, str], *, seconds: float, client: tuple[str, str] | None = None
) -> tuple[bool, Mapping[str, Any]]:
    """Whether the server did what was asked, and the JSON object that it answered with.

    Args:
        url: The endpoint.
        form: What is asked.
        seconds: Longest wait for each part of the answer.
        client: Name and secret of the client, sent as HTTP Basic; neither where omitted.

    Raises:
        Unavailable: The server cannot be reached, or what answers is no authorisation server.
    """
    import httpx

    from utils.net.bounded import Bound
    from utils.net.web_client import web_client

    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    try:
        async with web_client(Bound(_LARGEST), timeout=seconds, trust_env=not is_loopback(url)) as http:
            answer = await http.post(url, data=form, headers=headers, auth=client or httpx.USE_CLIENT_DEFAULT)
        told = json.loads(answer.content)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError) as error:
        raise Unavailable from error
    if not isinstance(told, Mapping):
        raise Unavailable
    return answer.is_success, told
