"""What stands on the wire."""

import a2a.client  # noqa: F401 - the SDK's server, imported before it, leaves its client without gRPC of 0.3
