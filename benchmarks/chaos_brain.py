"""What the provider's double answers in the chaos run: by the request alone, with one fault for each order."""

from __future__ import annotations

import re
import threading

from utils.testing.strict_provider import Call, ChatRequest, Fault, FaultKind, Reply

TOO_LONG = Fault.refusing("Input is too long for requested model.")
ORPHAN = Fault.refusing(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
)
MODEL_FAULTS = {
    "overflow": TOO_LONG,
    "orphan": ORPHAN,
    "busy": Fault(FaultKind.RATE_LIMITED, retry_after=0.01),
    "server_error": Fault(FaultKind.SERVER_ERROR),
    "overloaded": Fault(FaultKind.OVERLOADED),
    "empty": Fault(FaultKind.EMPTY),
    "null_choices": Fault(FaultKind.NULL_CHOICES),
    "broken": Fault(FaultKind.BROKEN),
    "error_event": Fault(FaultKind.ERROR_EVENT),
    "refused": Fault(FaultKind.UNAUTHORISED),
}
"""Faults of a model call, each given at the first request that carries its order."""

TOOL_KINDS = ("plain", "tool_error", "down", "tool_hang", "question", "slow")
"""What the sub-agent's tool is told to do."""

_ORDER = re.compile(r"order-(\d+) (\w+)")
_SECRET = re.compile(r"secret-\d+")
_LONG = "A long remark. " * 350


class ChaosBrain:
    """Answers orders like `order-17 busy`, and the question for the secret that was told at the beginning."""

    def __init__(self) -> None:
        self._given: set[str] = set()
        self._lock = threading.Lock()

    def __call__(self, request: ChatRequest) -> Reply | Fault:
        """The answer, or the fault of an order that was not given it before."""
        secrets = sorted({found for said in request.messages for found in _SECRET.findall(said.text)})
        tools = {tool.name for tool in request.tools}
        last = request.messages[-1]
        if not tools & {"worker", "work"}:
            return Reply(f"Summary: {' '.join(secrets)}")
        if last.role == "tool":
            return Reply(f"The tool said {last.text[:80]}")
        orders = _ORDER.findall(request.last_user_text)
        if not orders:
            return Reply(f"The secret is {' '.join(secrets) or 'unknown'}")
        number, kind = orders[-1]
        if kind in MODEL_FAULTS and self._first(f"{number} {'worker' in tools}"):
            return MODEL_FAULTS[kind]
        return self._obey(number, kind, supervisor="worker" in tools)

    def _first(self, key: str) -> bool:
        with self._lock:
            new = key not in self._given
            self._given.add(key)
            return new

    def _obey(self, number: str, kind: str, *, supervisor: bool) -> Reply:
        if kind == "long":
            return Reply(_LONG)
        if kind not in TOOL_KINDS:
            return Reply(f"Done: {kind}.")
        if supervisor:
            return Reply("", [Call(f"call-{number}", "worker", {"request": f"order-{number} {kind}"})])
        return Reply("", [Call(f"call-{number}", "work", {"kind": kind})])
