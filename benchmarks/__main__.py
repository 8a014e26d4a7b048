"""All measurements, or those that are named: `make bench`, `python -m benchmarks wire`."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import inspect
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from types import ModuleType

PARTS: Mapping[str, str] = {
    "context": "what context management costs and saves",
    "wire": "our server against the bare SDK's",
    "delegation": "a delegation against a bare call of the same agent",
    "startup": "what the start of the service costs",
    "guard": "what the guard before the event queue costs",
    "turn_cost": "what a delegated turn costs in processor time, beside a request of the bare SDK",
    "scale": "several replicas over PostgreSQL: beside the bare SDK and beside one, take-over, followers",
    "profile": "where the processor time of a delegated turn goes",
}
"""Each is a module here with `run()`, or `main()`, which may be a coroutine."""

QUICK: Mapping[str, int] = {"ROUNDS": 1, "REQUESTS": 32, "CHUNKS": 30, "TURNS": 16, "TAKEOVERS": 1}
"""Constants of the modules that `--quick` lowers: enough to see that a part runs, too little to compare."""


def measure(name: str, *, quick: bool = False) -> bool:
    """Run one part and print its figures; whether there is such a part in this checkout."""
    print(f"== {name}: {PARTS[name]}", flush=True)
    if find_spec(f"benchmarks.{name}") is None:
        print("  not in this checkout, left out", flush=True)
        return False
    module = importlib.import_module(f"benchmarks.{name}")
    if quick:
        _lower(module)
    entry = getattr(module, "run", None) or module.main
    if inspect.iscoroutinefunction(entry):
        asyncio.run(entry())
    else:
        entry()
    return True


def _lower(module: ModuleType) -> None:
    for name, value in QUICK.items():
        if hasattr(module, name):
            setattr(module, name, value)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the parts that are named, all of them where none is."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of: {', '.join(PARTS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="a few rounds, to see that it runs")
    options = parser.parse_args(arguments)
    if wrong := [name for name in options.parts if name not in PARTS]:
        parser.error(f"there is no part {wrong[0]!r}; there are: {', '.join(PARTS)}")
    for name in options.parts or PARTS:
        measure(name, quick=options.quick)


if __name__ == "__main__":
    main()
