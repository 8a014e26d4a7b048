"""Servers in the event loop of a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette

from utils.testing.live_server import loopback_socket, running

pytestmark = pytest.mark.listens


async def test_an_application_that_does_not_start_is_an_error_that_leaves_the_loop_and_no_socket() -> None:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        raise OSError("No room.")
        yield

    listener, before = loopback_socket(), asyncio.all_tasks()
    with pytest.raises(RuntimeError, match="did not start"):
        async with running(Starlette(lifespan=lifespan), listener=listener):
            raise AssertionError("It runs.")
    assert listener.fileno() == -1
    assert asyncio.all_tasks() == before
