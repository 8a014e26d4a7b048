"""Keeps tracebacks out of the log that the SDK writes for malformed parameters of a client.

It also logs a warning for each such request, with the code and the message of the response. An error with a traceback is
for a fault of the agent; anyone who reaches the port could fill the log with them.
"""

from __future__ import annotations

import logging

from google.protobuf.json_format import ParseError

DISPATCHER = "a2a.server.routes.jsonrpc_dispatcher"
"""The SDK's logger of JSON-RPC requests."""


def leave_out_client_faults() -> None:
    """Install the filter; a second call has no effect."""
    logging.getLogger(DISPATCHER).addFilter(_is_ours)


def _is_ours(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], ParseError))
