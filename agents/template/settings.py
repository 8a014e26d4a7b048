"""Settings of the template agent."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from utils.settings import EnvSettings


class TemplateSettings(EnvSettings):
    """What the template agent needs to know."""

    file: Path = Field(
        Path(__file__).parent / "entries.json",
        alias="TEMPLATE_FILE",
        description="JSON list of entries, newest first.",
    )
