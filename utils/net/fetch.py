"""Fetches a file from an untrusted URL, within limits of size and time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from utils.net.pinned import MOST_REDIRECTS, TooManyRedirects, pinned
from utils.net.url_guard import ForbiddenUrl

if TYPE_CHECKING:
    import httpx

_OK = 200


class FetchFailed(Exception):
    """The file was not fetched. The message is a sentence."""


async def fetch_file(url: str, *, most_bytes: int, seconds: float, allow_private: bool) -> bytes:
    """The content at a URL. Redirects are followed; each address is checked before it is called.

    Args:
        url: The URL.
        most_bytes: Largest content.
        seconds: Longest time for all of it.
        allow_private: Whether loopback and private addresses may be called.

    Raises:
        FetchFailed: It must not or could not be fetched.
    """
    import httpx

    from utils.net.bounded import AnswerTooLarge, Bound
    from utils.net.web_client import client_for_checked

    client = client_for_checked(Bound(most_bytes), seconds=seconds)
    try:
        at_end = pinned(client, url, allow_private=allow_private)
        async with asyncio.timeout(seconds), client, at_end as (response, _):
            return await _read(response)
    except ForbiddenUrl as error:
        raise FetchFailed(str(error)) from error
    except TooManyRedirects as error:
        raise FetchFailed(f"The server redirects more than {MOST_REDIRECTS} times.") from error
    except TimeoutError as error:
        raise FetchFailed(f"The server did not answer within {seconds:g} seconds.") from error
    except AnswerTooLarge as error:
        raise FetchFailed(f"The file is larger than {most_bytes:,} bytes.") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise FetchFailed("The server cannot be reached.") from error


async def _read(response: httpx.Response) -> bytes:
    if response.status_code != _OK:
        raise FetchFailed(f"The server answered with status {response.status_code}.")
    return await response.aread()
