"""A supervisor and one agent in processes of their own, with a collector that keeps what they export."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from utils.testing.live_server import loopback_socket

ROOT = Path(__file__).resolve().parents[3]
SERVE = ("-m", "utils.a2a_common.server.serve")
KEYS = (*SERVE, "tests.e2e.agents.peers:Keys")
SUPERVISOR = ("-m", "multi_agents.platform_engineer")


@dataclass(frozen=True)
class Seen:
    """One exported span."""

    service: str
    scope: str
    name: str
    trace: str
    id: str
    parent: str
    attributes: Mapping[str, str]
    error: bool


@dataclass
class Collector:
    """An OTLP/HTTP receiver."""

    spans: list[Seen] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)

    def app(self) -> Starlette:
        async def take(request: Request) -> Response:
            self.headers.append(request.headers.get("x-tenant", ""))
            self._keep(ExportTraceServiceRequest.FromString(await request.body()))
            return Response(b"", media_type="application/x-protobuf")

        return Starlette(routes=[Route("/v1/traces", take, methods=["POST"])])

    def _keep(self, sent: ExportTraceServiceRequest) -> None:
        for resource in sent.resource_spans:
            named = {one.key: one.value.string_value for one in resource.resource.attributes}
            for scope in resource.scope_spans:
                for span in scope.spans:
                    attributes = {one.key: str(one.value) for one in span.attributes}
                    self.spans.append(
                        Seen(
                            named["service.name"], scope.scope.name, span.name, span.trace_id.hex(),
                            span.span_id.hex(), span.parent_span_id.hex(), attributes, span.status.code == 2,
                        )
                    )  # fmt: skip


def free_port() -> int:
    with loopback_socket() as listener:
        port: int = listener.getsockname()[1]
    return port


@dataclass(frozen=True)
class Served:
    """A process that serves an agent, and the file that it logs to."""

    url: str
    log: Path
    process: subprocess.Popen[bytes]

    @property
    def lines(self) -> list[str]:
        return self.log.read_text().splitlines()

    def stop(self) -> None:
        """End it as an orchestrator would; its last spans are sent by then."""
        self.process.terminate()
        assert self.process.wait(20) == 0


@contextmanager
def started(folder: Path, name: str, command: tuple[str, ...], settings: Mapping[str, str]):
    port, log = free_port(), folder / f"{name}.log"
    environ = {**os.environ, "PLATFORM_ENGINEER_HOME": str(folder), "PYTHONPATH": str(ROOT), **settings}
    with log.open("wb") as file:
        arguments = [sys.executable, *command, "--port", str(port)]
        process = subprocess.Popen(arguments, stderr=file, stdout=file, env=environ, cwd=folder)
    served = Served(f"http://127.0.0.1:{port}", log, process)
    try:
        yield served
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


@asynccontextmanager
async def ready(served: Served) -> AsyncIterator[Served]:
    async with httpx.AsyncClient(trust_env=False) as http, asyncio.timeout(60):
        while True:
            assert served.process.poll() is None, served.log.read_text()
            try:
                if (await http.get(f"{served.url}/readyz")).status_code == 200:
                    break
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.05)
    yield served
