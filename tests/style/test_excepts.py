"""A broad except that does not raise stands only where somebody else's code is called or nobody awaits the result.

Such a handler turns whatever happened into an end state that is logged or told. `ENDS_HERE` lists each by its place. One
that raises (cleaning up first, or translating the error) hides nothing and needs no place here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.style.sources import dotted, nodes_of, python_files, short, tree_of

BROAD = {"Exception", "BaseException"}

EXECUTOR = (
    "utils/a2a_common/execution/executor.py::BaseLangGraphAgentExecutor",
    "utils/a2a_common/engine/turn_runner.py::TurnRunner",
)
AGENT_HOOK = (
    "utils/a2a_common/server/http/probes.py::probe_routes",
    "utils/a2a_common/handler/pending_input.py::PendingInputRouter",
)
TOOL = (
    "utils/a2a_common/graph/tools/boundary.py::ToolBoundary",
    "utils/a2a_common/graph/tools/boundary.py::_recorded",  # what it returned is written by code of its own
    "utils/a2a_common/graph/tools/thread.py::_work",  # raised again where the thread is waited for
    "utils/embeddings/own_loop.py::_fulfil",  # likewise
)
BACKGROUND_TASK = (
    "agents/rag/startup.py::StartupIngestion",
    "multi_agents/platform_engineer/memory/remembering.py::Remembering",
    "utils/a2a_common/client/delegation/abandoned.py::Abandoned",
    "utils/a2a_common/client/agents/registry.py::SubAgentRegistry",
    "utils/a2a_common/graph/after_turn.py::AfterTurn",
    "utils/a2a_common/server/push/sender.py::PushSender",
    "utils/a2a_common/tasks/backlog.py::Backlog",
    "utils/mcp/connection.py::Connection",
    "utils/mcp/servers.py::McpServers",
    "utils/persistence/database.py::Database",
    "utils/supervised.py::ItemErrors",  # raised at the end of the step
    "utils/supervised.py::supervised",
)
DOCUMENT = ("agents/rag/ingest/ingester.py::Ingester",)
ENDS_HERE = {*EXECUTOR, *AGENT_HOOK, *TOOL, *BACKGROUND_TASK, *DOCUMENT}
"""Where every error ends: the executor of a task, a hook of an agent, a tool, a task in the background, and the parsers
of one document, whose bytes can make them raise anything."""


def _handlers() -> Iterator[tuple[str, ast.ExceptHandler]]:
    """Every except with its place: the file, and the class or function at its top level."""
    for path in python_files():
        for part in tree_of(path).body:
            place = f"{short(path)}::{getattr(part, 'name', '')}"
            yield from ((place, node) for node in ast.walk(part) if isinstance(node, ast.ExceptHandler))


def _is_broad(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in BROAD) for kind in kinds)


def _raises(handler: ast.ExceptHandler) -> bool:
    """Whether it ends by raising, or raises again what it does not know."""
    again = (isinstance(node, ast.Raise) and node.exc is None for node in ast.walk(handler))
    return isinstance(handler.body[-1], ast.Raise) or any(again)


def test_every_error_ends_only_at_the_places_that_are_listed():
    silent = {place for place, handler in _handlers() if _is_broad(handler) and not _raises(handler)}
    assert silent - ENDS_HERE == set(), "catch the errors that can happen there, or raise again"
    assert ENDS_HERE - silent == set(), "no broad except is left there"


def test_no_except_only_passes_over_what_it_caught():
    """`contextlib.suppress` says the same in a line and names the errors."""
    empty = [
        f"{place}, line {handler.lineno}"
        for place, handler in _handlers()
        if all(isinstance(statement, ast.Pass) for statement in handler.body)
    ]
    assert not empty


def _suppressed() -> Iterator[tuple[str, str]]:
    """Place and name of each error that a `suppress` passes over."""
    for path in python_files():
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] == "suppress":
                yield from ((f"{short(path)}:{node.lineno}", dotted(kind)) for kind in node.args)


def test_nothing_suppresses_every_error():
    assert not [place for place, name in _suppressed() if name in BROAD]


def test_nothing_suppresses_a_cancellation():
    """It may be that of the task itself, and not of the one that is waited for: `utils/cancellation.py` ends tasks."""
    assert not [place for place, name in _suppressed() if name.endswith("CancelledError")]
