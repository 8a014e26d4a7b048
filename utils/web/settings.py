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
    client_id: str | None = Field(
        None,
        alias="WEB_CLIENT_ID",
        description="Client ID of the page at the first provider of AUTH_ISSUERS; people enter a key or a token when unset.",
    )
    scopes: str | None = Field(
        None,
        alias="WEB_SCOPES",
        description="Scopes that the page requests from that provider, with spaces; to use the agent and to approve when "
        "unset.",
    )
