"""Refuses a web page that comes in place of a model's answer, as from a gateway that wants a login, or from a wrong address.

Such a page has status 200, and the clients of the providers find nothing in it, or fail over it each in its own way.
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
    """Let the asynchronous client of OpenAI or Anthropic refuse web pages."""
    hooks = http_client_of(client).event_hooks
    if _refuse_page not in hooks["response"]:  # LangChain gives several clients one HTTP client
        hooks["response"].append(_refuse_page)


def refuse_web_pages_of_amazon(client: Any) -> None:
    """Let a client of boto refuse web pages."""
    client.meta.events.register("before-parse", _refuse_parsed_page)


async def _refuse_page(response: Any) -> None:
    _check(response.status_code, response.headers.get("content-type", ""))


def _refuse_parsed_page(*, response_dict: Any, **_: Any) -> None:
    try:
        _check(response_dict["status_code"], response_dict["headers"].get("content-type", ""))
    except InvalidRequest:
        if hasattr(response_dict["body"], "close"):  # of a stream, which nobody will read
            response_dict["body"].close()
        raise


def _check(status: int, content_type: str) -> None:
    """Look at the head of an answer.

    Raises:
        InvalidRequest: It is a web page of status 200. A page with an error's status is read by its status.
    """
    if status in _SUCCESS and content_type.lower().startswith(_PAGES):
        raise InvalidRequest(WEB_PAGE)
