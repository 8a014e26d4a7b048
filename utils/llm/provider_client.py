"""What holds for the HTTP client that a provider's package made: one client asks the model for everybody who is served."""

from __future__ import annotations

from typing import Any

from utils.errors import InvalidRequest
from utils.library_internals import http_client_of
from utils.llm.answer_bound import bound_answers
from utils.llm.web_page import refuse_web_pages
from utils.net.web_client import disable_cookies, is_cross_origin

LED_AWAY = (
    "The model server redirects to another host. The redirect was not followed, because your key and the conversation would go "
    "there. If that host is right, set it as the model's address. Otherwise check whether a gateway or proxy asks for a login."
)


def guard_client(client: Any) -> None:
    """Let the asynchronous client of OpenAI or Anthropic take no web page for an answer, and guard its HTTP client."""
    refuse_web_pages(client)
    guard_http(http_client_of(client))


def guard_http(http: Any) -> None:
    """Let an asynchronous client of httpx or httpx2 take answers up to a size, keep no cookie, and follow redirects within an origin alone.

    Keys of models stand in headers of many names, which both send along to any other origin.
    """
    bound_answers(http)
    disable_cookies(http.cookies.jar)
    hooks = http.event_hooks["response"]
    if _stay not in hooks:  # LangChain gives several clients one HTTP client
        hooks.append(_stay)


async def _stay(response: Any) -> None:
    if response.has_redirect_location and is_cross_origin(
        str(response.request.url), response.headers["location"]
    ):
        raise InvalidRequest(LED_AWAY)
