"""What the provider's double answers in the chaos run: by the request alone, with one fault for each order."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable

from benchmarks.chaos.orders import (
    MODEL_FAULTS,
    REMARKS,
    STRANGER,
    STRANGER_KINDS,
    SUPERVISOR,
    TOOL_KINDS,
    WORKER,
    Order,
)
from utils.testing.strict_provider import Call, ChatRequest, Fault, Reply

_ORDER = re.compile(r"order-(\d+) (\w+) (\w+)")
_SECRET = re.compile(r"secret-\d+")
_WORK = "work"
_JUDGES = "Reply with one word: ANSWER or NEW."
"""Asks whether a message answers an open question. The client's answer needs no model; all else that it says is new."""


class ChaosBrain:
    """Answers orders like `order-17 busy worker`, and the question for the secret that was told at the beginning.

    Attributes:
        happened: How often each order was seen to happen: a fault given, a result read.
        at_work: Called when the worker's model is asked, so that it can be killed there; in the double's thread.
    """

    def __init__(self) -> None:
        self.happened: Counter[Order] = Counter()
        self.at_work: Callable[[], None] = lambda: None
        self._given: set[str] = set()
        self._lock = threading.Lock()

    def __call__(self, request: ChatRequest) -> Reply | Fault:
        """The answer, or the fault of an order that was not given it before."""
        secrets = sorted({found for said in request.messages for found in _SECRET.findall(said.text)})
        tools = {tool.name for tool in request.tools}
        if not tools & {WORKER, _WORK}:
            judges = _JUDGES in request.messages[0].text
            return Reply("NEW" if judges else f"Summary: {' '.join(secrets)}")
        here = SUPERVISOR if WORKER in tools else WORKER
        if here == WORKER:
            self.at_work()
        orders = _ORDER.findall(request.last_user_text)
        last = request.messages[-1]
        if last.role == "tool":
            self._read(orders, last.text)
            return Reply(f"The tool said {last.text[:80]}")
        if not orders:
            return Reply(f"The secret is {' '.join(secrets) or 'unknown'}")
        number, kind, place = orders[-1]
        return self._obey(number, Order(kind, place), here)

    def _obey(self, number: str, order: Order, here: str) -> Reply | Fault:
        if order.place != here:
            text = f"order-{number} {order.kind} {order.place}"
            return Reply("", [Call(f"call-{number}", order.place, {"request": text})])
        if order.kind in MODEL_FAULTS:
            return self._spoil(number, order)
        if order.kind in REMARKS:
            self._count(order)
            return Reply(f"Done: {order.kind}.")
        return Reply("", [Call(f"call-{number}", _WORK, {"kind": order.kind})])

    def _spoil(self, number: str, order: Order) -> Reply | Fault:
        with self._lock:
            new = number not in self._given
            self._given.add(number)
        if not new:
            return Reply(f"Done: {order.kind}.")
        self._count(order)
        return MODEL_FAULTS[order.kind]

    def _read(self, orders: list[tuple[str, str, str]], result: str) -> None:
        for _, kind, place in orders[-1:]:
            expected = (STRANGER_KINDS if place == STRANGER else TOOL_KINDS).get(kind)
            if expected is not None and expected in result:
                self._count(Order(kind, place))

    def _count(self, order: Order) -> None:
        with self._lock:
            self.happened[order] += 1
