"""JSON-RPC error codes that the service answers with itself, before the SDK sees a request.

The codes from -32700 to -32600 are those of JSON-RPC 2.0, section 5.1; -32009 is VersionNotSupportedError of A2A 1.0.
"""

from __future__ import annotations

INVALID_JSON = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
SERVER_REFUSED = -32000
VERSION_NOT_SUPPORTED = -32009
