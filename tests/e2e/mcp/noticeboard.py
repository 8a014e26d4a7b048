"""An MCP server that reads a file aloud and posts notices: `python -m tests.e2e.mcp.noticeboard READ POSTED` speaks stdio."""

from __future__ import annotations

import sys
from pathlib import Path

from mcp.server.fastmcp import FastMCP

from tests.e2e.mcp.toolbox import READS


def noticeboard(read: Path, posted: Path) -> FastMCP:
    server = FastMCP("noticeboard", log_level="ERROR")

    @server.tool(annotations=READS)
    def notes() -> str:
        """Reads the notes."""
        return read.read_text("utf-8")

    @server.tool(annotations=READS)
    def broken() -> str:
        """Fails, and quotes the notes in its error."""
        raise ValueError(read.read_text("utf-8"))

    @server.tool()
    def post(text: str) -> str:
        """Posts a notice."""
        with posted.open("a", encoding="utf-8") as file:
            file.write(text)
        return "posted"

    return server


if __name__ == "__main__":
    noticeboard(Path(sys.argv[1]), Path(sys.argv[2])).run("stdio")
