"""Where the traceback of an error goes that a person reads a sentence about: a file of its own."""

from __future__ import annotations

import tempfile
import traceback


def kept_details(error: BaseException) -> str:
    """Write the traceback to a file among the temporary ones; the sentence says where, or that it was not possible."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="platform-engineer-", suffix=".log", delete=False, encoding="utf-8"
        ) as file:
            file.writelines(traceback.format_exception(error))
    except OSError:
        return "They could not be written to a file."
    return f"The details are in {file.name}."
