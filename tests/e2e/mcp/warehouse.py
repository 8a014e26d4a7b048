"""An MCP server with many tools and big results: `python -m tests.e2e.mcp.warehouse 85` speaks stdio."""

from __future__ import annotations

import json
import sys

from mcp.server.fastmcp import FastMCP

from tests.e2e.mcp.toolbox import READS


def report(items: int) -> str:
    """One line of JSON; some 480 characters an item."""
    rows = [{"sku": f"zebra{n}", "note": f"shelf {n} " + "x" * 440} for n in range(items)]
    return json.dumps(rows)


def shelf(number: int) -> str:
    """The name of a tool; those of the highest numbers come last in the server's list."""
    return f"shelf_{number:03}"


def warehouse(shelves: int) -> FastMCP:
    server = FastMCP("warehouse", log_level="ERROR")
    server.add_tool(report, annotations=READS, structured_output=False)
    for number in range(1, shelves):
        server.add_tool(
            lambda number=number: f"on shelf {number}",
            name=shelf(number),
            description=f"Tells what is on shelf {number}.",
            annotations=READS,
            structured_output=False,
        )
    return server


if __name__ == "__main__":
    warehouse(int(sys.argv[1])).run("stdio")
