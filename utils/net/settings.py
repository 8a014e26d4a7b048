"""Whether files are fetched from URLs that a user or a sub-agent sends."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from utils.settings import EnvSettings


class FileAddresses(StrEnum):
    """From which URLs files are fetched."""

    NONE = "none"
    PUBLIC = "public"
    ANY = "any"


class FileSettings(EnvSettings):
    """Pictures and PDF files that a user or a sub-agent sends by their address."""

    addresses: FileAddresses = Field(
        FileAddresses.PUBLIC,
        alias="FILE_URLS",
        description="From where they are fetched, for a model that accepts them: none, public, or any, which includes "
        "private addresses.",
    )
    seconds: float = Field(
        20.0,
        alias="FILE_URL_TIMEOUT_SECONDS",
        gt=0,
        description="Seconds that fetching one of them may take.",
    )
