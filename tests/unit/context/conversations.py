"""Small conversations for tests."""

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from utils.errors import ModelUnavailable
from utils.messages.counter import MessageCounter

COUNTER = MessageCounter()


def human(text: str, name: str = "h") -> HumanMessage:
    return HumanMessage(text, id=name)


def calls(*ids: str, name: str = "get", text: str = "", message: str | None = None) -> AIMessage:
    made = [{"name": name, "args": {"n": i}, "id": call_id} for i, call_id in enumerate(ids)]
    return AIMessage(text, tool_calls=made, id=message or f"ai-{'-'.join(ids)}")


def result(call_id: str, text: str = "fine", name: str = "get") -> ToolMessage:
    return ToolMessage(text, tool_call_id=call_id, name=name, id=f"result-{call_id}")


def turn(number: int, *, results: int = 1, words: int = 100) -> list[BaseMessage]:
    """A question, a call with results of `words` words each, and an answer."""
    ids = [f"c{number}x{i}" for i in range(results)]
    return [
        human(f"Question {number} about service-{number}?", f"h{number}"),
        calls(*ids, message=f"a{number}"),
        *(result(i, f"value {i} " * (words // 2)) for i in ids),
        AIMessage(f"Service-{number} has {number * 7} replicas.", id=f"f{number}"),
    ]


def long_talk(turns: int, *, words: int = 100, results: int = 1) -> list[BaseMessage]:
    talk = [message for number in range(turns) for message in turn(number, words=words, results=results)]
    return [*talk, human("And what now?", "active")]


class RecordingSummariser:
    """A summariser that remembers what it was given, and how many calls ran at once."""

    name = "langmem"

    def __init__(self, answer: str = "A summary.", *, window: int = 100_000, fails: bool = False) -> None:
        self.window = window
        self.given: list[str] = []
        self.most_at_once = 0
        self._answer = answer
        self._fails = fails
        self._running = 0

    async def summarise(self, text: str, *, previous: str, max_tokens: int) -> str:
        return await self._answer_to(f"{previous}\n{text}" if previous else text)

    async def shorten(self, text: str, *, title: str, guidance: str, max_tokens: int) -> str:
        await self._answer_to(text)
        return f"{title}: " + " ".join(text.split()[: int(max_tokens * 0.6)])

    async def _answer_to(self, text: str) -> str:
        self.given.append(text)
        self._running += 1
        self.most_at_once = max(self.most_at_once, self._running)
        await asyncio.sleep(0)
        self._running -= 1
        if self._fails:
            raise ModelUnavailable("down")
        return self._answer


def shape(messages: Sequence[BaseMessage]) -> list[Any]:
    return [m.tool_call_id if isinstance(m, ToolMessage) else m.id for m in messages]
