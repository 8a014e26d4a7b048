"""Refuses a web page in place of a model's answer, as from a gateway that requires a login, or from a wrong address.

Such a page has status 200; the clients of the providers find no answer in it, or fail in different ways.
"""

from __future__ import annotations

from typing import Any

from utils.errors import InvalidRequest
from utils.library_internals import http_client_of

WEB_PAGE = (
    "A web page came in place of the model's answer. The address of the model is wrong (OPENAI_BASE_URL usually ends in "
    "/v1), or a gateway or proxy in between wants a login."
)
_PAGES = ("text/html", "application/xhtml+xml")
_SUCCESS = range(200, 300)


def refuse_web_pages(client: Any) -> None:
    """Make the asynchronous client of OpenAI or Anthropic refuse web pages."""
    hooks = http_client_of(client).event_hooks
    if _refuse_page not in hooks["response"]:  # LangChain shares one HTTP client among several clients
        hooks["response"].append(_refuse_page)


def refuse_web_pages_of_amazon(client: Any) -> None:
    """Make a client of boto refuse web pages."""
    client.meta.events.register("before-parse", _refuse_parsed_page)


async def _refuse_page(response: Any) -> None:
    _check(response.status_code, response.headers.get("content-type", ""))


def _refuse_parsed_page(*, response_dict: Any, **_: Any) -> None:
    try:
        _check(response_dict["status_code"], response_dict["headers"].get("content-type", ""))
    except InvalidRequest:
        if hasattr(response_dict["body"], "close"):  # a stream, which will not be read
            response_dict["body"].close()
        raise


def _check(status: int, content_type: str) -> None:
    """Check the status and content type of a response.

    Raises:
        InvalidRequest: It is a web page with status 200. A page with an error status is handled by its status.
    """
    if status in _SUCCESS and content_type.lower().startswith(_PAGES):
        raise InvalidRequest(WEB_PAGE)
