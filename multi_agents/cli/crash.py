"""An unexpected error: a sentence for the user, the traceback in a file for developers."""

from __future__ import annotations

import sys
from types import TracebackType

from utils.processes.details import kept_details


def tell_crash(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """The `sys.excepthook` of the command line; Python ends with exit code 1 afterwards."""
    where = kept_details(error.with_traceback(trace))
    sys.stderr.write(f"Error [internal_error]: {kind.__name__} was not expected here. {where}\n")
