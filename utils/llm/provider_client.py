"""What holds for the HTTP client that a provider's package made: one client asks the model for everybody who is served."""

from __future__ import annotations

from typing import Any

from utils.llm.answer_bound import bound_answers
from utils.llm.web_page import refuse_web_pages
from utils.net.web_client import forget_cookies


def guard_client(client: Any) -> None:
    """Let the asynchronous client of OpenAI or Anthropic take answers up to a size, no web page, and keep no cookie."""
    bound_answers(client)
    refuse_web_pages(client)
    forget_cookies(client._client.cookies.jar)  # noqa: SLF001 - the clients show their HTTP client in no other way
