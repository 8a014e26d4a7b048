"""Requests one tool call from a model, to check that it can be reached, that the key is valid, and that it exists and calls tools."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from utils.llm.classify import UNREACHABLE, classify
from utils.llm.factory import create_chat_model, describe_model
from utils.llm.server_window import ServerWindow, server_window
from utils.settings import LLMSettings, ModelProvider

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

SMALLEST = 8_192
"""The smallest window in which every agent works."""

_TOOL = {
    "type": "function",
    "function": {
        "name": "report_status",
        "description": "Reports a status.",
        "parameters": {
            "type": "object",
            "properties": {"status": {"type": "string", "description": "The status."}},
            "required": ["status"],
        },
    },
}
_QUESTION = "Call the tool report_status with the status ok. Say nothing else."

NO_CALL = (
    "it answered, but did not call the tool that it was asked to call. Agents need tool calls: choose an LLM_MODEL "
    "that is made for them, and see that its server passes tools on."
)


_ADDRESSES = {
    ModelProvider.OPENAI: "openai_base_url",
    ModelProvider.OPENAI_COMPATIBLE: "openai_base_url",
    ModelProvider.AZURE_OPENAI: "azure_openai_endpoint",
    ModelProvider.AWS_BEDROCK: "aws_endpoint_url",
    ModelProvider.ANTHROPIC: "anthropic_base_url",
    ModelProvider.GOOGLE_GEMINI: "google_base_url",
    ModelProvider.GCP_VERTEXAI: "google_base_url",
}
"""Field of `LLMSettings` with the address of a provider's server."""


class CallForm(StrEnum):
    """How a model calls a tool."""

    NATIVE = "native"
    TEXT = "text"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """The result of a check.

    Attributes:
        model: The model in a few words.
        problem: What is wrong and what to do about it; empty if it answered.
        late: Whether it did not answer within the time of the check, as slow models may not.
        form: How it calls a tool.
        streams: Whether its answer came in several chunks.
        window: Its window, if its server reports it.
    """

    model: str
    problem: str = ""
    late: bool = False
    form: CallForm = CallForm.NONE
    streams: bool = False
    window: ServerWindow | None = None

    @property
    def found(self) -> str:
        """The result in a sentence."""
        if self.problem:
            return f"{self.model}: {self.problem}"
        if self.form is CallForm.NONE:
            return f"{self.model}: {NO_CALL}"
        calls = (
            "calls tools"
            if self.form is CallForm.NATIVE
            else "writes tool calls as text, which is understood"
        )
        found = [f"answers, {calls}", "streams" if self.streams else "sends its answer in one piece"]
        if self.window:
            found.append(f"has a window of {self.window.tokens:,} tokens")
        return f"{self.model} {', '.join(found)}"

    @property
    def small(self) -> str:
        """What to do about a window that is too small; empty if it is large enough or unknown."""
        if self.window is None or self.window.tokens >= SMALLEST:
            return ""
        return f"The window of {self.model} is {self.window.tokens:,} tokens, and agents need {SMALLEST:,}: {self.window.larger}."

    @property
    def good(self) -> bool:
        """Whether agents can work with it."""
        return not self.problem and not self.small and self.form is not CallForm.NONE


async def check_model(settings: LLMSettings, seconds: float) -> ModelCheck:
    """Request one tool call from a model.

    Args:
        settings: Provider, model and credentials.
        seconds: How long it may take.

    Raises:
        SettingsError: A setting is missing or wrong.
    """
    name = describe_model(settings)
    request = asyncio.create_task(_ask(settings, seconds))
    window = await server_window(settings)
    try:
        answer, chunks = await request
    except TimeoutError:
        problem = f"no answer within {seconds:g} seconds. It may load or be slow: LLM_TIMEOUT_SECONDS is how long it may take."
        return ModelCheck(name, problem, late=True, window=window)
    except Exception as error:
        failure = classify(error)
        if failure is None:
            raise
        problem = _unreachable(settings) if failure.message == UNREACHABLE else failure.message
        return ModelCheck(name, problem, window=window)
    return ModelCheck(name, form=_form(answer), streams=chunks > 1, window=window)


def _unreachable(settings: LLMSettings) -> str:
    """Which server cannot be reached, and what to look at. For the operator alone: users are not told the address."""
    field = _ADDRESSES[settings.provider]
    if url := getattr(settings, field):
        host = urlsplit(url).netloc.rpartition("@")[2]
        setting = LLMSettings.model_fields[field].alias
        return f"{UNREACHABLE.rstrip('.')} at {host}. See whether its server runs, and check {setting}."
    return f"{UNREACHABLE} Check the network, and HTTPS_PROXY where there is a proxy."


async def _ask(settings: LLMSettings, seconds: float) -> tuple[AIMessage | None, int]:
    model = create_chat_model(settings)
    chunks, message = 0, None
    async with asyncio.timeout(seconds):
        async for chunk in model.bind_tools([_TOOL]).astream(_QUESTION):
            chunks += bool(chunk.content or getattr(chunk, "tool_call_chunks", None))
            message = chunk if message is None else message + chunk  # type: ignore[assignment]
    return message, chunks


def _form(answer: Any) -> CallForm:
    from utils.llm.reply.text_calls import written_calls
    from utils.llm.reply.thoughts import split_thoughts
    from utils.messages.text import message_text

    if answer is None:
        return CallForm.NONE
    if answer.tool_calls or answer.invalid_tool_calls:
        return CallForm.NATIVE
    text = split_thoughts(message_text(answer)).answer
    return CallForm.TEXT if written_calls(text, {"report_status"}) else CallForm.NONE
