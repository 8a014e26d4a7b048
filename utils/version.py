"""The version of this project. It stands in `pyproject.toml` alone and is read from there.

The application runs from a checkout or from its image, which both hold that file. Metadata of an installed package
would not do: the image has none, and a checkout's tells what was installed last.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


@cache
def project_version() -> str:
    """The version, such as `1.2.3`."""
    import tomllib

    return str(tomllib.loads(_PROJECT.read_text("utf-8"))["project"]["version"])
