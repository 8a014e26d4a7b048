"""Asks each model that the settings name: `doctor` shows what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from multi_agents.cli.model.finding import Finding, Level
from multi_agents.cli.model.unused import unused_model
from multi_agents.cli.own_settings import OwnSettings
from utils.settings import LLMSettings, ModelProvider, RecoverySettings

if TYPE_CHECKING:
    from utils.llm.model_check import ModelCheck

LONGEST_SECONDS = 30.0
"""How long `doctor` waits for one model, if LLM_TIMEOUT_SECONDS does not allow less."""


async def ask_models(environ: Mapping[str, str], own: Iterable[OwnSettings]) -> list[Finding]:
    """The outcome of one request to each model, or the models that are available but not used."""
    asked = list(_models(environ, own))
    if not asked:
        sentence = await unused_model(environ)
        return [Finding("model", Level.NOTE, sentence)] if sentence else []
    found = await asyncio.gather(*(_asked(settings) for settings in asked))
    return [finding for findings in found for finding in findings]


def _models(environ: Mapping[str, str], own: Iterable[OwnSettings]) -> Iterator[LLMSettings]:
    """Each model once: that of the service, those of single agents, of summaries and in reserve."""
    from utils.context.settings import ContextSettings
    from utils.llm.factory import fallback_of

    seen: set[LLMSettings] = set()
    for each in (environ, *(one.over(environ) for one in own)):
        llm = LLMSettings.load(each)
        summaries = ContextSettings.load(each).summary_model
        reserve = fallback_of(llm, RecoverySettings.load(each))
        summarising = llm.model_copy(update={"model": summaries}) if summaries else None
        for one in (llm, summarising, reserve):
            if one is None or one.provider is ModelProvider.EMBEDDED or one in seen:
                continue
            seen.add(one)
            yield one


async def _asked(settings: LLMSettings) -> list[Finding]:
    from utils.llm.model_check import check_model

    check = await check_model(settings, min(LONGEST_SECONDS, settings.timeout_seconds))
    findings = [Finding("model", _level(check), check.found)]
    if check.small:
        findings.append(Finding("model", Level.WRONG, check.small))
    return findings


def _level(check: ModelCheck) -> Level:
    from utils.llm.model_check import CallForm

    if check.problem and not check.late:
        return Level.WRONG
    return Level.NOTE if check.late or check.form is CallForm.NONE else Level.OK
