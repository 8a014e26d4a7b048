"""Guards the HTTP client that a provider's package created. One client sends the requests of all users."""

from __future__ import annotations

from typing import Any

from utils.errors import InvalidRequest
from utils.library_internals import http_client_of
from utils.llm.answer_bound import bound_answers
from utils.llm.web_page import refuse_web_pages
from utils.net.web_client import disable_cookies, is_cross_origin

CROSS_ORIGIN_REDIRECT = (
    "The model server redirects to another host. The redirect was not followed, because your key and the conversation would go "
    "there. If that host is right, set it as the model's address. Otherwise check whether a gateway or proxy asks for a login."
)


def guard_client(client: Any) -> None:
    """Make the asynchronous client of OpenAI or Anthropic refuse web pages, and guard its HTTP client."""
    refuse_web_pages(client)
    guard_http(http_client_of(client))


def guard_http(http: Any) -> None:
    """Make an asynchronous client of httpx or httpx2 limit responses, keep no cookies, and follow redirects only within an origin.

    API keys are sent in headers of many names, which both libraries would send to other origins too.
    """
    bound_answers(http)
    disable_cookies(http.cookies.jar)
    hooks = http.event_hooks["response"]
    if _refuse_cross_origin not in hooks:  # LangChain shares one HTTP client among several clients
        hooks.append(_refuse_cross_origin)


async def _refuse_cross_origin(response: Any) -> None:
    if response.has_redirect_location and is_cross_origin(
        str(response.request.url), response.headers["location"]
    ):
        raise InvalidRequest(CROSS_ORIGIN_REDIRECT)
