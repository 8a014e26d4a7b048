"""Each HTTP client is made with a bound on what it takes: `event_hooks=….hooks(…)` of `utils/net/bounded.py`.

Without one a few kilobytes of a server may become gigabytes here. Clients of model providers are made by their own packages.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.style.sources import dotted, nodes_of, python_files, short

CLIENTS = {"AsyncClient", "Client", "McpHttpClient"}
PACKAGES = {"httpx", "McpHttpClient"}
OURS = "utils/testing/"
"""It asks what this project started itself."""


def _clients() -> Iterator[tuple[str, ast.Call]]:
    for path in python_files():
        if short(path).startswith(OURS):
            continue
        for call in nodes_of(path):
            if not isinstance(call, ast.Call):
                continue
            name = dotted(call.func)
            package, _, made = name.rpartition(".")
            if made in CLIENTS and (package or made) in PACKAGES:
                yield f"{short(path)}:{call.lineno}", call


def _is_bounded(call: ast.Call) -> bool:
    hooks = [each.value for each in call.keywords if each.arg == "event_hooks"]
    return any(isinstance(each, ast.Call) and ast.unparse(each.func).endswith(".hooks") for each in hooks)


def test_each_client_bounds_what_it_takes():
    found = list(_clients())
    assert found
    assert [place for place, call in found if not _is_bounded(call)] == []
