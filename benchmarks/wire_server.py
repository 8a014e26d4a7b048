"""The two servers that `benchmarks/wire.py` compares, each in a process of its own.

`python -m benchmarks.wire_server ours|bare memory|PATH|postgresql://…` prints its port. Both run the same agent, each
in the way that its users get it: ours switches the SDK's own spans off before the SDK is imported, which
the SDK itself leaves on wherever OpenTelemetry is installed. With `OTEL_INSTRUMENTATION_A2A_SDK_ENABLED=false`
(or `true`) in the environment both run without (or with) them.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from starlette.responses import JSONResponse
from starlette.routing import Route

from benchmarks.service.held import held
from utils.testing.live_server import loopback_socket, running

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request

    from utils.a2a_common.server.agent_service import AgentService


UNBOUNDED = {"MAX_CONCURRENT_TURNS": "4096"}
"""The bare SDK has no line either."""

AT_ONCE = 64
"""Turns that a replica runs at the same time: more than are asked for here."""


async def ours(storage: str, stack: AsyncExitStack) -> Starlette:
    """Our server, all guards on; over PostgreSQL as one of the replicas that share a queue."""
    import utils.a2a_common  # noqa: F401 - first, since it sets the SDK's switch
    from benchmarks.wire_agent import CARD, Agent
    from tests.support.task_logs import memory_log, sqlite_log
    from utils.a2a_common.server.agent_service import AgentService
    from utils.a2a_common.server.app import build_app
    from utils.settings import ServerSettings

    settings = ServerSettings.load(UNBOUNDED)
    if storage.startswith("postgresql"):
        return build_app(await _over_postgres(storage, stack), settings)
    log = memory_log() if storage == "memory" else sqlite_log(Path(storage))
    return build_app(AgentService(card=CARD, executor=Agent(), log=log), settings)


async def _over_postgres(url: str, stack: AsyncExitStack) -> AgentService:
    from benchmarks.wire_agent import CARD, Agent
    from utils.a2a_common.engine.postgres_queue_tables import PostgresQueueTables
    from utils.a2a_common.engine.procrastinate_queue import ProcrastinateQueue
    from utils.a2a_common.server.agent_service import AgentService
    from utils.a2a_common.server.commands.database import further_tables
    from utils.a2a_common.server.push.store_postgres import PostgresPushConfigs
    from utils.a2a_common.tasks.log import TaskLog
    from utils.persistence.postgres.opening import open_database
    from utils.persistence.postgres.runs import PostgresRuns
    from utils.persistence.postgres.task_log import PostgresTaskLogStore
    from utils.persistence.settings import DatabaseSettings

    database = DatabaseSettings.load({"DATABASE_URL": url, "DATABASE_CONNECT_SECONDS": "60"})
    pool = await open_database(
        database, "bench", stack, alone=False, on_lost=bool, further=further_tables(None)
    )
    assert pool is not None
    return AgentService(
        card=CARD,
        executor=Agent(),
        log=TaskLog(PostgresTaskLogStore(pool)),
        runs=PostgresRuns(pool),
        push_configs=PostgresPushConfigs(pool),
        queue=ProcrastinateQueue(PostgresQueueTables(pool), at_once=AT_ONCE, takeover_seconds=10, grace=5),
    )


async def bare(storage: str) -> Starlette:
    """The SDK's server and stores as its documentation has them; SQLite in WAL, as ours."""
    from a2a.server.request_handlers import DefaultRequestHandler
    from a2a.server.routes import create_jsonrpc_routes
    from a2a.server.tasks import DatabaseTaskStore, InMemoryTaskStore, TaskStore
    from sqlalchemy import event
    from sqlalchemy.ext.asyncio import create_async_engine
    from starlette.applications import Starlette

    from benchmarks.wire_agent import CARD, Agent

    store: TaskStore = InMemoryTaskStore()
    if storage.startswith("postgresql"):
        store = DatabaseTaskStore(
            create_async_engine(storage.replace("postgresql:", "postgresql+psycopg:", 1))
        )
        await store.initialize()
    elif storage != "memory":
        engine = create_async_engine(f"sqlite+aiosqlite:///{storage}")

        @event.listens_for(engine.sync_engine, "connect")
        def pragmas(connection: object, _: object) -> None:
            for pragma in ("journal_mode=WAL", "synchronous=NORMAL"):
                connection.execute(f"PRAGMA {pragma}")  # type: ignore[attr-defined]

        store = DatabaseTaskStore(engine)
        await store.initialize()
    handler = DefaultRequestHandler(agent_executor=Agent(), task_store=store, agent_card=CARD)
    return Starlette(routes=create_jsonrpc_routes(handler, "/"))


async def inside(_request: Request) -> JSONResponse:
    """What only the process itself can count."""
    return JSONResponse({"loop_tasks": len(asyncio.all_tasks()), "held": held()})


async def main(kind: str, storage: str) -> None:
    """Serve until standard input closes."""
    logging.disable(logging.CRITICAL)
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL)
    )  # nobody reads its lines
    async with AsyncExitStack() as stack:
        app = await ours(storage, stack) if kind == "ours" else await bare(storage)
        app.router.routes.append(Route("/inside", inside))
        listener = loopback_socket()
        async with running(app, listener=listener):
            print(listener.getsockname()[1], flush=True)
            await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
