"""The server of an agent's process."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import uvicorn

from utils.a2a_common.server.draining_server import DrainingServer
from utils.processes.garbage import YOUNG_OBJECTS

pytestmark = pytest.mark.listens


async def app(_scope: Any, _receive: Any, _send: Any) -> None:
    """Is asked for nothing."""


async def drain() -> None:
    """Has nothing to do."""


async def test_what_was_made_before_the_start_is_not_looked_through_for_garbage_and_what_is_young_seldom():
    config = uvicorn.Config(app, port=0, lifespan="off", log_config=None)
    config.load()
    server = DrainingServer(config, drain)
    server.lifespan = config.lifespan_class(config)
    before, thresholds = gc.get_freeze_count(), gc.get_threshold()
    try:
        await server.startup()
        assert gc.get_freeze_count() > before + 1_000
        assert gc.get_threshold() == (YOUNG_OBJECTS, *thresholds[1:])
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
        await server.shutdown()
