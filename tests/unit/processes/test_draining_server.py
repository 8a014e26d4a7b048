"""The server of an agent's process."""

from __future__ import annotations

import gc
from typing import Any

import uvicorn

from utils.a2a_common.server.draining_server import DrainingServer


async def app(_scope: Any, _receive: Any, _send: Any) -> None:
    """Is asked for nothing."""


async def drain() -> None:
    """Has nothing to do."""


async def test_what_was_made_before_the_start_is_not_looked_through_for_garbage():
    config = uvicorn.Config(app, port=0, lifespan="off", log_config=None)
    config.load()
    server = DrainingServer(config, drain)
    server.lifespan = config.lifespan_class(config)
    before = gc.get_freeze_count()
    try:
        await server.startup()
        assert gc.get_freeze_count() > before + 1_000
    finally:
        gc.unfreeze()
        await server.shutdown()
