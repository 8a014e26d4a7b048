"""`python -m agents.rag` serves the RAG agent; `python -m agents.rag ingest …` changes its index."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from utils.settings import process_environment

_PORT = 8002
"""As in `agents/agents.yaml`."""


def main(argv: Sequence[str]) -> int:
    """Run the sub-command that the first argument names, or serve."""
    if argv[:1] == ["ingest"]:
        from agents.rag.ingest_command import run_ingest
        from utils.observability.logging import configure_logging
        from utils.observability.settings import LogSettings

        quiet = LogSettings.model_validate(
            {"LOG_LEVEL": "WARNING"}
        )  # its own lines say what became of each document
        configure_logging(quiet, agent="rag", environ=process_environment())
        return run_ingest(argv[1:])
    from agents.rag.agent import RagAgent
    from utils.a2a_common.server.serve import serve

    return serve(RagAgent, default_port=_PORT, argv=argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
