"""All measurements, one after the other: `make bench`."""

from __future__ import annotations

import asyncio

from benchmarks import context, startup, wire


def run() -> None:
    """Print all figures."""
    context.run()
    asyncio.run(wire.main())
    startup.run()


if __name__ == "__main__":
    run()
