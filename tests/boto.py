"""Lets the clients of boto in a process share what describes Amazon's services: each would parse 2 MB of JSON again."""

from __future__ import annotations

from functools import cache
from typing import Any

from botocore.loaders import JSONFileLoader

_load_file = JSONFileLoader._load_file  # it gives nothing for a file that is not there


@cache
def _loaded(path: str, open_method: Any) -> Any:
    return _load_file(JSONFileLoader(), path, open_method)


def share_descriptions() -> None:
    """Parse each description once, in this process; its readers leave it as it is."""
    JSONFileLoader._load_file = lambda _, path, open_method: _loaded(path, open_method)
