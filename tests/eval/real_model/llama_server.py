"""The model on a loopback port, run by the interpreter that has its runtime: `python llama_server.py MODEL PORT`.

It speaks llama.cpp's HTTP interface and ends with its standard input.
"""

from __future__ import annotations

import sys
from typing import Any

SLOTS = 3
"""One for each agent, so that none loses its prefix to another."""
WINDOW = 8_192
SEED = 7


def main(model: str, port: int) -> None:
    """Serve until the standard input ends."""
    import xllamacpp as runtime  # type: ignore[import-not-found]  # of its own environment

    params: Any = runtime.CommonParams()
    params.model.path = model
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_ctx, params.n_parallel = SLOTS * WINDOW, SLOTS
    params.sampling.temp, params.sampling.seed = 0.0, SEED
    params.use_jinja = True
    server = runtime.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
