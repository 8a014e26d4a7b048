"""The version of this project, read from `pyproject.toml`, the only place where it is written.

The application runs from a checkout or from its image, and both contain that file. Metadata of an installed package would
not work: the image has none, and that of a checkout may be outdated.
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
