"""Where the stores of an agent are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.contract.stores.told import Place
from tests.postgres import PARAMETER


@pytest.fixture(params=["sqlite", PARAMETER])
async def storage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    async with AsyncExitStack() as stack:
        pool = None
        if request.param == "postgresql":
            pool = await stack.enter_async_context(request.getfixturevalue("postgres").opened())
        yield Place(tmp_path, pool)
