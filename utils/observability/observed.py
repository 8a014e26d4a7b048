"""Spans and metrics of turns, model calls, tool calls and delegations."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from structlog.contextvars import bound_contextvars

from utils.events import ToolStatus, Usage
from utils.observability import catalogue
from utils.observability.metrics import count, process_metrics
from utils.observability.trace import agent_at_work, child_span, current_trace_id, failed, root_span
from utils.observability.turn_meter import TurnMeter, tokens

if TYPE_CHECKING:
    from opentelemetry.trace import Span


@dataclass(slots=True)
class ObservedModelCall:
    """Results of a model call, for its span and metrics."""

    usage: Usage | None = None


@dataclass(slots=True)
class ObservedCall:
    """Results of a tool call, for its span and metrics."""

    status: ToolStatus = ToolStatus.INTERRUPTED


@contextmanager
def observed_turn(
    agent: str, carrier: Mapping[str, str], *, task_id: str, context_id: str
) -> Iterator[TurnMeter]:
    """Observe one turn of an agent: binds its IDs to each log line, and yields the meter of its events.

    Args:
        agent: Name of the agent.
        carrier: Headers of the message that started it.
        task_id: Its task.
        context_id: Its conversation.
    """
    attributes = {"gen_ai__conversation__id": context_id, "a2a__task__id": task_id}
    token = agent_at_work.set(agent)
    try:
        with root_span(f"turn {agent}", carrier, gen_ai__agent__name=agent, **attributes) as span:
            meter = TurnMeter(agent, process_metrics(), trace_id=current_trace_id())
            with bound_contextvars(task_id=task_id, context_id=context_id, trace_id=meter.trace_id):
                try:
                    yield meter
                finally:
                    span.set_attribute("platform_engineer.outcome", meter.outcome)
                    if meter.code:
                        failed(span, meter.code)
                    meter.end()
    finally:
        agent_at_work.reset(token)


@contextmanager
def observed_model_call(model: str) -> Iterator[ObservedModelCall]:
    """Observe one attempt of a model call."""
    agent, outcome, began, call = agent_at_work.get(), "error", time.monotonic(), ObservedModelCall()
    try:
        with child_span(f"chat {model}", remote=True, gen_ai__request__model=model) as span:
            yield call
            outcome = "ok"
            if call.usage is not None:
                span.set_attribute("gen_ai.usage.input_tokens", call.usage.input_tokens)
                span.set_attribute("gen_ai.usage.output_tokens", call.usage.output_tokens)
                _count_tokens(agent, call.usage)
    except asyncio.CancelledError:
        outcome = "canceled"
        raise
    finally:
        count(catalogue.MODEL_CALLS, agent=agent, outcome=outcome)
        count(catalogue.MODEL_SECONDS, time.monotonic() - began, agent=agent)


@contextmanager
def observed_tool_call(tool: str) -> Iterator[ObservedCall]:
    """Observe one tool call. `tool` must be the name of an existing tool, since a model may ask for any name."""
    began, call = time.monotonic(), ObservedCall()
    try:
        with child_span(f"execute_tool {tool}", marks_errors=False, gen_ai__tool__name=tool) as span:
            yield from _until_done(call, span)
    finally:
        count(catalogue.TOOL_CALLS, tool=tool, outcome=call.status.value)
        count(catalogue.TOOL_SECONDS, time.monotonic() - began, tool=tool)


@contextmanager
def observed_delegation(agent: str) -> Iterator[ObservedCall]:
    """Observe a delegation; requests inside the block carry the trace context. Its event is counted elsewhere."""
    call = ObservedCall()
    with child_span(f"delegate {agent}", remote=True, marks_errors=False, gen_ai__agent__name=agent) as span:
        yield from _until_done(call, span)


def _until_done(call: ObservedCall, span: Span) -> Iterator[ObservedCall]:
    try:
        yield call
    finally:
        if call.status is ToolStatus.ERROR:
            failed(span, "tool_error")


def _count_tokens(agent: str, usage: Usage) -> None:
    for observation in tokens(catalogue.TOKENS_USED, agent, usage):
        process_metrics().record(observation)
    count(catalogue.REQUEST_TOKENS, usage.input_tokens, agent=agent)
