"""Builds an agent's context middleware from its settings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from utils.context import announce
from utils.context.limits import explicit_limit, get_context_window
from utils.context.policy import PRESETS, ContextPolicy
from utils.context.protocols import ArtifactStore, Summariser
from utils.context.settings import ContextSettings
from utils.errors import SettingsError
from utils.messages.counter import MessageCounter, encoding_for
from utils.messages.media.charges import charges_for
from utils.settings import LLMSettings, ModelProvider

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from utils.context.middleware import ContextMiddleware
    from utils.context.topic import Embed


EXTRACT_TO = 0.90
"""Share of the input budget used after an extract on the embedded model. An extract costs no model call, and this model
has no prompt cache to invalidate, so that a fuller request has only advantages."""


def policy_for(
    llm: LLMSettings, context: ContextSettings, model: BaseChatModel | None = None
) -> ContextPolicy:
    """The policy of the settings with the window of the model."""
    window = get_context_window(
        llm.model,
        explicit_limit(llm.provider, context),
        profile=getattr(model, "profile", None),
        provider=str(llm.provider),
    )
    policy = PRESETS[context.policy](window)
    summarise_at = context.summarise_at or policy.summarise_at
    return replace(
        policy,
        max_turns=context.max_turns or policy.max_turns,
        compress_ahead=context.compress_ahead,
        system_as_user=context.system_as_user,
        max_tool_output=context.max_tool_output,
        output_reserve=context.output_reserve or llm.max_output_tokens or policy.output_reserve,
        clear_at=min(policy.clear_at, summarise_at),
        summarise_at=summarise_at,
        topic_at=_topic_at(context, policy),
        keep_messages=context.keep_messages or policy.keep_messages,
        use_model=policy.use_model and context.model_summaries,
        extract_to=EXTRACT_TO if _extracts(llm, context) else policy.extract_to,
    )


def _topic_at(context: ContextSettings, policy: ContextPolicy) -> float | None:
    chosen = context.topic_at or policy.topic_at
    return chosen if chosen is not None and chosen < 1 else None


def _extracts(llm: LLMSettings, context: ContextSettings) -> bool:
    return llm.provider is ModelProvider.EMBEDDED and context.policy == "standard"


def default_context_middleware(
    llm: LLMSettings,
    context: ContextSettings,
    model: BaseChatModel,
    artifacts: ArtifactStore,
    *,
    summary_prompt: str | None = None,
    ahead: bool = False,
    embed: Embed | None = None,
) -> ContextMiddleware:
    """The context middleware of an agent.

    Args:
        llm: Settings of the model.
        context: Limits and thresholds.
        model: The agent's chat model.
        artifacts: Stores texts that are left out of requests.
        summary_prompt: The agent's own prompt for summaries; one in the settings overrides it.
        ahead: Whether the caller compacts after each turn (`ContextMiddleware.compact_ahead`).
        embed: Tells topics apart; without it a change of topic triggers nothing.

    Raises:
        SettingsError: A file that a setting names cannot be read.
    """
    from utils.context.middleware import ContextMiddleware

    announce.ignored(structlog.get_logger(__name__), context.ignored)
    counter = MessageCounter(encoding_for(llm.model), charges=charges_for(llm.model))
    policy = policy_for(llm, context, model)
    return ContextMiddleware(
        policy,
        artifacts,
        counter=counter,
        summariser=_summariser(llm, context, model, counter, prompt_of(context) or summary_prompt),
        provider=str(llm.provider),
        ahead=ahead,
        most_calls=context.model_calls_per_turn,
        embed=embed,
    )


def _summariser(
    llm: LLMSettings,
    context: ContextSettings,
    model: BaseChatModel,
    counter: MessageCounter,
    prompt: str | None,
) -> Summariser | None:
    """LangMem on the configured model; `None` for the embedded model, which cannot write summaries."""
    from utils.context.summarisers.langmem import SUMMARY_PROMPT, LangMemSummariser
    from utils.llm.factory import create_chat_model

    if llm.provider is ModelProvider.EMBEDDED:
        return None
    settings = llm.model_copy(update={"model": context.summary_model}) if context.summary_model else llm
    writer = create_chat_model(settings) if context.summary_model else model
    window = policy_for(settings, context, writer).input_budget
    return LangMemSummariser(
        writer, counter, window=window, timeout=llm.timeout_seconds, prompt=prompt or SUMMARY_PROMPT
    )


def prompt_of(context: ContextSettings) -> str | None:
    """The summary prompt in the file that the settings name; `None` if they name none.

    Raises:
        SettingsError: The file cannot be read as text.
    """
    if context.summary_prompt_file is None:
        return None
    try:
        text = context.summary_prompt_file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = "CONTEXT_SUMMARY_PROMPT_FILE names a file that cannot be read as text."
        raise SettingsError("CONTEXT_SUMMARY_PROMPT_FILE", why) from error
    return text or None
