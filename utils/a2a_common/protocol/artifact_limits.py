"""Limits on the artifacts of one task; the text of its answer is not counted."""

MOST_BYTES = 3_000_000
"""Bytes of all artifacts of a task, and so of one file. In base64 they take 4,000,000, so that one event and the whole
task fit into the 4 MiB that gRPC takes as one message by default, with room for the rest of the task."""

MOST_ARTIFACTS = 100
"""Artifacts of a task: the head of each is rewritten with the task's row at every status."""

TEXT_CHUNK = 100_000
"""Characters of a text part in one event; a longer one comes in chunks, which readers join."""
