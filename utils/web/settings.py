"""Whether an agent answers browsers."""

from __future__ import annotations

from pydantic import Field

from utils.settings import EnvSettings


class WebSettings(EnvSettings):
    """The page that an agent shows in a browser."""

    page: bool = Field(
        True,
        alias="WEB_PAGE",
        description="Whether a browser that opens the agent's address gets a page to chat with it.",
    )
