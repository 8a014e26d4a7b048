"""Every metric of an agent's process: name, kind, labels and meaning. A test compares it with docs/observability.md.

Labels name parts of the system (agents, tools, codes), never users, conversations or tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PREFIX = "platform_engineer_"

SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900)
"""Buckets from a cached answer to a turn with several slow agents."""

TOKENS = (1_000, 4_000, 16_000, 32_000, 64_000, 128_000, 256_000, 1_000_000)
"""The context windows of common models."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric.

    Attributes:
        name: Name in the scraped text.
        kind: Prometheus type.
        meaning: One sentence.
        labels: Names of its labels.
        buckets: Upper bounds, of a histogram.
    """

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


def _counter(name: str, meaning: str, *labels: str) -> Metric:
    return Metric(f"{PREFIX}{name}_total", "counter", meaning, labels)


def _gauge(name: str, meaning: str, *labels: str) -> Metric:
    return Metric(PREFIX + name, "gauge", meaning, labels)


def _histogram(name: str, meaning: str, *labels: str, buckets: tuple[float, ...] = SECONDS) -> Metric:
    return Metric(PREFIX + name, "histogram", meaning, labels, buckets)


TURNS = _counter(
    "turns", "Turns that ended: completed, failed, rejected, input_required or canceled.", "agent", "outcome"
)
FAILURES = _counter("turn_failures", "Failed turns by error code.", "agent", "code")
TURN_SECONDS = _histogram("turn_seconds", "How long a turn took.", "agent")
FIRST_TOKEN = _histogram(
    "first_token_seconds", "Time from the begin of a turn to the first text of its answer.", "agent"
)
RUNNING = _gauge("turns_running", "Turns that are under way.", "agent")
DELETED = _counter(
    "conversations_deleted",
    "Conversations that were deleted, by their owners, or because of their age or of the size of what is stored.",
)
WAITING = _gauge(
    "turns_waiting",
    "Accepted turns that wait for their place; with DATABASE_URL each replica tells those of all.",
)

STORED = _gauge(
    "stored_bytes",
    "What the agent has stored, by file without its ending; with DATABASE_URL by table, the same at every replica.",
    "kind",
)

FREE = _gauge(
    "free_bytes",
    "What is free on the volume of PLATFORM_ENGINEER_HOME; not told with DATABASE_URL, nor where data is in memory.",
)

RETAINED = _gauge(
    "retention_bytes",
    "What counts towards the limit of its kind, without free space in files and tables, as of the last look.",
    "kind",
)
RETAINED_MOST = _gauge(
    "retention_limit_bytes",
    "The limit of a kind: RETENTION_TASKS_MB and its like; none where there is none.",
    "kind",
)

RETENTION_HELD = _gauge(
    "retention_held",
    "1 while nothing is deleted because of its age, since the clock may have jumped; else 0.",
)

MODEL_CALLS = _counter(
    "model_calls", "Calls of the chat model, each try counted: ok, error or canceled.", "agent", "outcome"
)
MODEL_SECONDS = _histogram("model_call_seconds", "How long a call of the chat model took.", "agent")
RETRIES = _counter("model_retries", "Model calls that are made again, by the code of the failure.", "reason")
TOKENS_USED = _counter(
    "tokens",
    "Tokens of this agent's own model calls: input, output, and cached, which is a part of input.",
    "agent",
    "direction",
)
DELEGATED_TOKENS = _counter(
    "delegated_tokens",
    "Tokens that sub-agents reported; each counts its own as tokens too.",
    "agent",
    "direction",
)
REQUEST_TOKENS = _histogram(
    "model_request_tokens", "Size of model requests, as the provider counted them.", "agent", buckets=TOKENS
)

TOOL_CALLS = _counter("tool_calls", "Tool calls that ended: ok, error or interrupted.", "tool", "outcome")
TOOL_SECONDS = _histogram("tool_call_seconds", "How long a tool call took.", "tool")
DELEGATIONS = _counter(
    "delegations", "Tasks given to sub-agents that ended, by the A2A state they ended in.", "agent", "state"
)
DELEGATION_SECONDS = _histogram("delegation_seconds", "How long a sub-agent's task took.", "agent")

COMPACTIONS = _counter(
    "context_compactions", "Stages of context management that made a request smaller.", "agent", "strategy"
)
SAVED_TOKENS = _counter(
    "context_saved_tokens", "Tokens that these stages took out of requests.", "agent", "strategy"
)
REPAIRS = _counter(
    "repairs", "Tool calls without a result that got a synthetic one: in a request or in storage.", "where"
)

DROPPED = _counter(
    "dropped_events",
    "Events that the task log refused: after the end (ended), fenced, suspended or storage.",
    "reason",
)
STREAMS = _gauge("open_streams", "Event streams that clients hold open.")
CONNECTIONS = _gauge("open_connections", "HTTP connections that are open, without those of METRICS_PORT.")
REFUSALS = _counter(
    "refusals",
    "Requests and connections that were refused or cut off because of a limit.",
    "reason",
)
LOOP_TASKS = _gauge(
    "event_loop_tasks",
    "Tasks of the process' event loop when it was scraped; a number that only grows is a leak.",
)
PUSHES = _counter(
    "push_deliveries", "Push notifications that were delivered, or failed and were given up.", "outcome"
)
STORAGE_ERRORS = _counter(
    "storage_errors",
    "Reads and writes that a database failed (full, locked, damaged), by its file; sizes: a scrape did not wait for them any longer.",
    "file",
)
BACKGROUND_FAILURES = _counter(
    "background_failures",
    "Steps of the work in the background that failed and are tried again, such as retention and sweeper.",
    "loop",
)
BACKGROUND_FAILING = _gauge(
    "background_failing", "Loops of that name whose last step failed; 0 where all go on.", "loop"
)
BREAKER = _gauge(
    "breaker_state",
    "1 for the state that an agent's circuit breaker is in, 0 for the others.",
    "agent",
    "state",
)

CATALOGUE: tuple[Metric, ...] = tuple(
    value for value in dict(globals()).values() if isinstance(value, Metric)
)
"""All of them, in the order above."""
