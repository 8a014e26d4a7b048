"""Tries the language model while the service starts, so that a problem is reported before the first question."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from utils.errors import SettingsError
from utils.llm.settings import ModelCheckSettings
from utils.settings import LLMSettings, ModelProvider

START_SECONDS = 10.0
"""How long the model may take to answer while the service starts; the start does not wait longer for it."""

Tell = Callable[[str], Awaitable[None]]


@asynccontextmanager
async def model_tried(environ: Mapping[str, str], tell: Tell) -> AsyncIterator[None]:
    """Request a tool call from the model while the block runs, and report a problem at its end.

    Says nothing of a model that works, and asks neither the offline model nor with `LLM_CHECK=false`.
    """
    settings = LLMSettings.load(environ)
    if settings.provider is ModelProvider.EMBEDDED or not ModelCheckSettings.load(environ).at_start:
        yield
        return
    trying = asyncio.create_task(_problem(settings))
    try:
        yield
        if not trying.done():
            await tell(f"Asking {settings.provider} {settings.model} for a first answer …")
        if sentence := await trying:
            await tell(sentence)
    finally:
        trying.cancel()
        await asyncio.gather(trying, return_exceptions=True)


async def _problem(settings: LLMSettings) -> str:
    """What is wrong with the model; empty if nothing is."""
    from utils.llm.model_check import check_model

    try:
        check = await check_model(settings, START_SECONDS)
    except SettingsError as error:
        return error.message
    return "" if check.good else f"The model may not work: {check.small or check.found}"
