"""An unexpected error: a sentence for the user, the traceback in a file for developers."""

from __future__ import annotations

import sys
import tempfile
import traceback
from types import TracebackType


def tell_crash(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """The `sys.excepthook` of the command line; Python ends with exit code 1 afterwards."""
    lines = traceback.format_exception(kind, error, trace)
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="platform-engineer-", suffix=".log", delete=False, encoding="utf-8"
        ) as file:
            file.writelines(lines)
    except OSError:
        where = "They could not be written to a file."
    else:
        where = f"The details are in {file.name}."
    sys.stderr.write(f"Error [internal_error]: {kind.__name__} was not expected here. {where}\n")
