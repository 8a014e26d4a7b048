"""Where the processor time of a delegated turn goes, by room: `python -m benchmarks profile`.

Supervisor and worker are sampled while they serve delegated turns one after the other. A sample belongs to the innermost
frame whose file is in the map below; libraries that everybody uses belong to whoever calls them. The variable
`STACKS` names a file for the samples, as folded stacks that drawers of flame graphs read.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks.service.gate import Gate
from benchmarks.service.processes import Service, running_service
from benchmarks.service.sampled import SAMPLES
from benchmarks.service.script import WORK
from benchmarks.turn_cost import QUIET, cpu_seconds, turns

TURNS = 150
ROOMS: tuple[tuple[str, str], ...] = (
    ("site-packages/openai/", "model client"),
    ("site-packages/langchain_openai/", "model client"),
    ("utils/llm/", "model client"),
    ("site-packages/a2a/client/", "A2A client"),
    ("utils/a2a_common/client/", "A2A client"),
    ("multi_agents/platform_engineer/", "delegation"),
    ("utils/a2a_common/execution/", "publishing"),
    ("site-packages/a2a/server/events/", "publishing"),
    ("site-packages/a2a/server/tasks/", "publishing"),
    ("site-packages/a2a/server/agent_execution/", "publishing"),
    ("utils/persistence/checkpoints", "checkpoints"),
    ("utils/persistence/latest_saver", "checkpoints"),
    ("utils/persistence/message_rows", "checkpoints"),
    ("utils/persistence/stored_messages", "checkpoints"),
    ("site-packages/langgraph/checkpoint/", "checkpoints"),
    ("utils/persistence/tool_record", "tool record"),
    ("utils/persistence/", "storage"),
    ("utils/a2a_common/tasks/", "task log"),
    ("utils/a2a_common/engine/", "engine"),
    ("utils/context/", "context"),
    ("utils/messages/", "context"),
    ("utils/a2a_common/handler/", "handler"),
    ("site-packages/a2a/server/", "SDK's server"),
    ("utils/a2a_common/server/http/", "HTTP guards"),
    ("utils/a2a_common/server/serve.py", "event loop"),
    ("utils/a2a_common/server/agent_process.py", "event loop"),
    ("utils/a2a_common/server/", "server"),
    ("utils/observability/", "observability"),
    ("site-packages/structlog/", "observability"),
    ("site-packages/prometheus_client/", "observability"),
    ("utils/resilience/", "resilience"),
    ("utils/a2a_common/", "graph, ours"),
    ("site-packages/langgraph/", "LangGraph"),
    ("site-packages/langchain/", "LangGraph"),
    ("site-packages/langchain_core/", "LangGraph"),
    ("site-packages/uvicorn/", "HTTP server"),
    ("site-packages/starlette/", "HTTP server"),
    ("site-packages/sse_starlette/", "HTTP server"),
    ("benchmarks/service/", "the driver's tool and gate"),
)
"""The first that matches a file counts."""

IDLE = "selectors.py:"
THREADS = "other threads (SQLite)"
"""The main thread waits while processor time passes: another thread uses it."""


def room_of(stack: Iterable[str]) -> str:
    """The room that a sample belongs to."""
    frames = list(stack)
    if frames and IDLE in frames[0]:
        return THREADS
    for frame in frames:
        for path, room in ROOMS:
            if path in frame:
                return room
    return "others"


def shares(samples: Mapping[tuple[str, ...], int]) -> Counter[str]:
    """Samples by room."""
    counts: Counter[str] = Counter()
    for stack, count in samples.items():
        counts[room_of(stack)] += count
    return counts


def _short(frame: str) -> str:
    return frame.rpartition("site-packages/")[2].removeprefix(f"{Path.cwd()}/")


async def _sampled(service: Service, samples: Path) -> list[tuple[float, dict[tuple[str, ...], int]]]:
    """Processor seconds and samples of supervisor and worker over the turns."""
    agents = (service.supervisor, service.worker)
    await turns(service, WORK, 20, 1, streamed=True)
    before = [cpu_seconds(agent.pid) for agent in agents]
    for agent in agents:
        os.kill(agent.pid, signal.SIGUSR1)
    await turns(service, WORK, TURNS, 1, streamed=True)
    used = [cpu_seconds(agent.pid) - then for agent, then in zip(agents, before, strict=True)]
    found = []
    for agent, seconds in zip(agents, used, strict=True):
        os.kill(agent.pid, signal.SIGUSR2)
        path = Path(f"{samples}.{agent.pid}")
        while not path.exists():  # noqa: ASYNC110, ASYNC240 - another process writes it
            await asyncio.sleep(0.05)
        found.append((seconds, await asyncio.to_thread(_read, path)))
    return found


def _read(path: Path) -> dict[tuple[str, ...], int]:
    return {tuple(stack): count for stack, count in json.loads(path.read_text())}


async def run() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        samples = Path(folder) / "samples"
        settings = {**QUIET, SAMPLES: str(samples)}
        async with running_service(
            Path(folder), Gate(), settings, through="benchmarks.service.sampled"
        ) as service:
            (supervisor, ours), (worker, theirs) = await _sampled(service, samples)
    rooms = [shares(ours), shares(theirs)]
    per_turn = [
        seconds * 1000 / TURNS / max(1, counts.total())
        for seconds, counts in zip((supervisor, worker), rooms, strict=True)
    ]
    total = (supervisor + worker) * 1000 / TURNS
    print(f"a delegated turn: {total:.1f} ms of processor time, {sum(c.total() for c in rooms)} samples")
    print(f"  {'room':28}{'supervisor':>12}{'worker':>10}{'both':>10}{'share':>8}")
    both = {
        room: [c[room] * ms for c, ms in zip(rooms, per_turn, strict=True)] for room in rooms[0] | rooms[1]
    }
    for room, (first, second) in sorted(both.items(), key=lambda each: -sum(each[1])):
        print(
            f"  {room:28}{first:9.2f} ms{second:7.2f} ms{first + second:7.2f} ms{(first + second) / total:8.0%}"
        )
    if path := os.environ.get("STACKS"):
        _write_folded(Path(path), (ours, theirs))


def _write_folded(path: Path, sampled: Iterable[Mapping[tuple[str, ...], int]]) -> None:
    with path.open("w") as file:
        for name, samples in zip(("supervisor", "worker"), sampled, strict=True):
            for stack, count in samples.items():
                frames = ";".join(_short(frame) for frame in reversed(stack))
                file.write(f"{name};{frames} {count}\n")


if __name__ == "__main__":
    asyncio.run(run())
