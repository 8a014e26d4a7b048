"""`make check-auth`: the refusals, by hand. The last line counts them."""

from __future__ import annotations

import asyncio
import logging
import sys
import tempfile
import warnings
from pathlib import Path

from tests.e2e.auth.house import house
from tests.e2e.auth.knocking import knocked


async def check() -> int:
    """Knock, print what was wrong, and count."""
    with tempfile.TemporaryDirectory() as home:
        async with house(Path(home)) as it:
            made, failures = await knocked(it)
    for failure in failures:
        print(failure)
    print(f"{made} requests with credentials: {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    sys.exit(asyncio.run(check()))
