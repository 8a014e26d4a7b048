"""What a user writes, what the models answer to it, and what the whole answer must be. Pure.

`run-17.2 work 12 50`: the key of the turn, what is done in it, of how many words the answer is, and the milliseconds between the
pieces that the supervisor's model streams.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from utils.testing.strict_provider import Call, ChatRequest, Fault, FaultKind, Reply

SAY, WORK, LOOK, ASK, FAIL, TELL = "say", "work", "look", "ask", "fail", "tell"
"""Answer without a tool; with a sub-agent's tool that has an effect; with one that only reads; with one that asks the user;
fail, because the provider refuses the credentials; as work, but the sub-agent is told so in other words than the user's."""

SUPERVISOR, WORKER = "supervisor", "worker"
TOOLS = {WORK: "work", LOOK: "look", ASK: "ask", TELL: "work"}
WORDS = 12
_ORDER = re.compile(r"run-([\w.]+) (\w+)(?: (\d+))?(?: (\d+))?")
_SECRET = re.compile(r"secret-\d+")
_JUDGES = "Reply with one word: ANSWER or NEW."
_WORDS_A_CHUNK = 3


class Order(NamedTuple):
    """What one message asks for."""

    key: str
    kind: str
    words: int = WORDS
    pause_ms: int = 0

    @property
    def text(self) -> str:
        """How it is written."""
        return f"run-{self.key} {self.kind} {self.words} {self.pause_ms}"

    @property
    def answer(self) -> str:
        """The answer that it must get."""
        opening = f"Answer {self.key}: worked." if self.kind in TOOLS else f"Answer {self.key}:"
        return _filled(opening, self)

    @property
    def passed_answer(self) -> str:
        """The sub-agent's answer, where the turn ends with it."""
        return _filled(f"did {self.key}.", self)


class Thought(NamedTuple):
    """What a model answers, and what that shows.

    Attributes:
        reply: The answer, or how the provider fails.
        key: The turn that it belongs to; empty where it belongs to none.
        agent: Who asked the model.
        remarks: What was seen in the request that should not be there, or that is counted.
        pause_ms: Milliseconds between two pieces of the answer.
    """

    reply: Reply | Fault
    key: str = ""
    agent: str = ""
    remarks: tuple[str, ...] = ()
    pause_ms: int = 0


def orders_in(text: str) -> list[Order]:
    """The orders in a text, in their order."""
    found = _ORDER.findall(text)
    return [Order(key, kind, int(words or WORDS), int(pause or 0)) for key, kind, words, pause in found]


def think(request: ChatRequest) -> Thought:
    """The answer to a request of the supervisor's or the worker's model: by the request alone."""
    tools = {tool.name for tool in request.tools}
    if not tools & {WORKER, *TOOLS.values()}:
        return Thought(Reply(_aside(request)))
    agent = SUPERVISOR if WORKER in tools else WORKER
    last = request.messages[-1]
    orders = orders_in(request.last_user_text) or (_all_orders(request) if last.role == "tool" else [])
    if not orders:
        secrets = sorted({found for said in request.messages for found in _SECRET.findall(said.text)})
        return Thought(Reply(f"The secret is {' '.join(secrets) or 'unknown'}"), agent=agent)
    order = orders[-1]
    remarks = _repeated(request, order)
    if order.kind == FAIL:
        return Thought(Fault(FaultKind.UNAUTHORISED), order.key, agent, remarks)
    if order.kind not in TOOLS:
        return Thought(_chunked(order.answer), order.key, agent, remarks, order.pause_ms)
    if last.role != "tool":
        return Thought(Reply("", [_call(order, agent)]), order.key, agent, remarks)
    if agent == WORKER:
        done = f"did {order.key}" in last.text
        if not done:
            remarks = (*remarks, f"tool said: {last.text[:200]}")
        opening = f"did {order.key}" + ("." if done else " (outcome unknown).")
        return Thought(_chunked(_filled(opening, order)), order.key, agent, remarks)
    worked = f"did {order.key}" in last.text
    if not worked:
        remarks = (*remarks, f"delegation said: {last.text[:200]}")
    opening = f"Answer {order.key}: {'worked' if worked else 'not done'}."
    return Thought(_chunked(_filled(opening, order)), order.key, agent, remarks, order.pause_ms)


def _call(order: Order, agent: str) -> Call:
    if agent == SUPERVISOR:
        words = f"Please do this: {order.text}" if order.kind == TELL else order.text
        return Call(f"call-{order.key}", WORKER, {"request": words})
    return Call(f"call-{order.key}", TOOLS[order.kind], {"key": order.key})


def _all_orders(request: ChatRequest) -> list[Order]:
    """What was asked for before the user answered a question."""
    return [order for said in request.messages if said.role == "user" for order in orders_in(said.text)]


def _repeated(request: ChatRequest, order: Order) -> tuple[str, ...]:
    """A user's message that stands in the conversation twice."""
    times = sum(order in orders_in(said.text) for said in request.messages if said.role == "user")
    return ("message doubled",) if times > 1 else ()


def _aside(request: ChatRequest) -> str:
    if _JUDGES in request.messages[0].text:
        return "NEW"
    secrets = sorted({found for said in request.messages for found in _SECRET.findall(said.text)})
    return f"Summary: {' '.join(secrets)}"


def _filled(opening: str, order: Order) -> str:
    return " ".join((opening, *(f"w{number}" for number in range(order.words)), f"end {order.key}."))


def _chunked(text: str) -> Reply:
    words = text.split(" ")
    groups = [" ".join(words[at : at + _WORDS_A_CHUNK]) for at in range(0, len(words), _WORDS_A_CHUNK)]
    return Reply(chunks=[*(f"{group} " for group in groups[:-1]), groups[-1]])
