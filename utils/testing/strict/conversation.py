"""Requests and answers in a form that does not depend on the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Api(StrEnum):
    """The APIs that the double speaks."""

    OPENAI = "openai"
    BEDROCK = "bedrock"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    RESPONSES = "responses"


_NOTES = ("(Today is ", "Another agent delegated this task.")


@dataclass(frozen=True)
class Call:
    """A tool call, made by the model or found in the history."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ChatMessage:
    """One message. A tool's result has `call_id`; roles are system, user, assistant and tool.

    `notes` is what agents of this project append to a user's message for the model, as a separate paragraph or block: `text` is the
    user's message alone.
    """

    role: str
    text: str = ""
    calls: Sequence[Call] = ()
    call_id: str | None = None
    failed: bool = False
    notes: str = ""

    @classmethod
    def of_texts(cls, role: str, texts: Sequence[str], calls: Sequence[Call] = ()) -> ChatMessage:
        """A message of the user or the model from its blocks of text.

        Clients of some providers merge consecutive messages of the user: each of them ends with its notes.
        """
        if role != "user":
            return cls(role, "".join(texts), calls)
        said, notes = [""], list[str]()
        for text in (part for each in texts for part in _parted(each)):
            if said[-1] and text.startswith(_NOTES):
                notes.append(text)
                said.append("")
            else:
                said[-1] += text
        return cls(role, "\n".join(filter(None, said)), calls, notes="\n".join(notes))


def _parted(text: str) -> Sequence[str]:
    """The user's message, and the notes after it."""
    found = [at for opening in _NOTES if (at := text.rfind(f"\n\n{opening}")) > 0]
    return (text[: min(found)], text[min(found) + 2 :]) if found else (text,)


@dataclass(frozen=True)
class DeclaredTool:
    """A tool that the request offers. `parameters` is its JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class ChatRequest:
    """A request that passed every check.

    Attributes:
        api: The API that was called.
        model: Name of the model asked for.
        messages: The conversation, normalised.
        tools: What may be called.
        stream: Whether the answer is streamed.
        max_tokens: Longest answer, in tokens.
        tokens: Size of the input, by the double's own count.
        body: The request as it was sent.
    """

    api: Api
    model: str
    messages: Sequence[ChatMessage]
    tools: Sequence[DeclaredTool]
    stream: bool
    max_tokens: int | None
    tokens: int
    body: Mapping[str, Any]

    @property
    def last_user_text(self) -> str:
        """What the user said last."""
        return next((said.text for said in reversed(self.messages) if said.role == "user"), "")


@dataclass(frozen=True)
class Reply:
    """What the model answers.

    Attributes:
        text: What it says.
        calls: Tools that it calls.
        chunks: The pieces that the text is streamed in, where given.
        reason: Finish reason in the API's spelling; the usual one when unset, none when empty.
        cut: Characters that are missing at the end of the last call's arguments.
        usage_in_each_chunk: Whether the usage is reported in every chunk of a stream, as some servers do.
        reasoning: Summary of the model's reasoning; only in the Responses API.
        prompt_share: Share of the input's tokens that is reported; some servers leave out cached ones.
    """

    text: str = ""
    calls: Sequence[Call] = ()
    chunks: Sequence[str] = ()
    reason: str | None = None
    cut: int = 0
    usage_in_each_chunk: bool = False
    prompt_share: float = 1.0
    reasoning: str = ""

    @property
    def whole_text(self) -> str:
        """The text in one piece."""
        return "".join(self.chunks) or self.text

    @property
    def pieces(self) -> Sequence[str]:
        """The text as it is streamed: `chunks`, or pieces of some words."""
        if self.chunks:
            return self.chunks
        words = self.text.split(" ")
        groups = [" ".join(words[start : start + 4]) for start in range(0, len(words), 4)]
        return [piece for piece in (*(f"{group} " for group in groups[:-1]), groups[-1]) if piece]


@dataclass(frozen=True)
class Wire:
    """A response byte for byte, as a certain server sends it.

    Attributes:
        parts: The body, in the pieces in which it is sent.
        status: HTTP status.
        content_type: Media type; that of the API's streams when unset.
        headers: Further headers.
        open_end: Whether the connection stays open and silent after the last part, until the client leaves.
    """

    parts: Sequence[bytes]
    status: int = 200
    content_type: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    open_end: bool = False


@dataclass(frozen=True)
class Rejection:
    """Why a request was refused.

    Attributes:
        rule: Short name of the broken rule, for tests.
        message: The provider's sentence.
        status: HTTP status.
        code: OpenAI's `code`, or Bedrock's exception name.
        param: OpenAI's `param`.
        kind: OpenAI's `type`.
    """

    rule: str
    message: str
    status: int = 400
    code: str | None = None
    param: str | None = None
    kind: str = "invalid_request_error"
