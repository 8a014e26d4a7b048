"""Fetches Debian's `python3.11-doc` once, without root."""

from __future__ import annotations

import subprocess
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".cache" / "retrieval"
PACKAGE = "python3.11-doc"
_HTML = Path("usr/share/doc/python3.11/html")
_SECONDS = 300


class CorpusMissingError(Exception):
    """The corpus is not there and could not be fetched; the message says what to do."""


def fetch_corpus(cache: Path = CACHE) -> Path:
    """The folder of the HTML documentation.

    Raises:
        CorpusMissingError: apt or its package lists are missing, or there is no network.
    """
    corpus = cache / "package" / _HTML
    if not (corpus / "faq" / "general.html").is_file():
        cache.mkdir(parents=True, exist_ok=True)
        _run(["apt-get", "download", PACKAGE], cache)
        package = max(cache.glob(f"{PACKAGE}_*.deb"))
        _run(["dpkg", "-x", package.name, "package"], cache)
    return corpus


def _run(command: list[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        raise CorpusMissingError(
            f"The package {PACKAGE} could not be fetched: this needs Debian 12, its package lists "
            "(`apt-get update`) and a network."
        ) from error
