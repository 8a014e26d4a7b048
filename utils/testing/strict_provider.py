"""A double of the chat APIs of OpenAI, Bedrock, Anthropic and Gemini that refuses what the real ones refuse.

    with run_strict_provider(ScriptedBrain(["Hello."]), window=8_000) as provider:
        model = create_chat_model(LLMSettings.load(provider.environment("openai")))
        ...
    assert provider.rejections == []

Real clients talk to it over HTTP, so that tests do not depend on our own checks being right. By
hand: `python -m utils.testing.strict_provider --port 9000 --window 8000`.
"""

from __future__ import annotations

import argparse
import sys
import threading
from typing import Any

from utils.testing.strict.brains import Brain, EchoBrain, RoutingBrain, ScriptedBrain, ScriptExhaustedError
from utils.testing.strict.conversation import (
    Api,
    Call,
    ChatMessage,
    ChatRequest,
    DeclaredTool,
    Rejection,
    Reply,
    Wire,
)
from utils.testing.strict.faults import Fault, FaultKind
from utils.testing.strict.provider import BrainError, Rejected, StrictProvider
from utils.testing.strict.running import run_strict_provider

__all__ = [
    "Api",
    "Brain",
    "BrainError",
    "Call",
    "ChatMessage",
    "ChatRequest",
    "DeclaredTool",
    "EchoBrain",
    "Fault",
    "FaultKind",
    "Rejected",
    "Rejection",
    "Reply",
    "RoutingBrain",
    "ScriptExhaustedError",
    "ScriptedBrain",
    "StrictProvider",
    "Wire",
    "main",
    "run_strict_provider",
]


def main() -> None:
    """Serve the double by hand, with the embedded model deciding, until interrupted."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--port", type=int, default=9000, help="port on 127.0.0.1 (0: a free one)")
    parser.add_argument("--window", type=int, default=128_000, help="context window in tokens")
    options = parser.parse_args()
    with run_strict_provider(_embedded_brain(), window=options.window, port=options.port) as provider:
        _say(f"OpenAI: {provider.openai_url}   Bedrock: {provider.url}   window: {provider.window}")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            accepted, refused = len(provider.requests), len(provider.rejections)
            _say(f"{accepted} requests, {refused} rejections")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _embedded_brain() -> Brain:
    from utils.embeddings import create_embedder
    from utils.llm.factory import create_chat_model
    from utils.settings import EmbeddingSettings, LLMSettings

    def embedder() -> Any:
        return create_embedder(EmbeddingSettings.load({}), cache=None)

    return RoutingBrain(create_chat_model(LLMSettings.load({}), embedder_factory=embedder))


if __name__ == "__main__":
    main()
