"""The imports of every agent's process, for a parent process that imports them once and forks.

None of these modules may start a thread, read a setting or leave anything open when it is imported.
"""

from __future__ import annotations

SHARED_MODULES = (
    "utils.a2a_common.server.serve",
    "utils.a2a_common.server.app",
    "utils.a2a_common.server.card",
    "utils.a2a_common.execution.executor",
    "utils.a2a_common.graph.run.graph_run",
    "utils.a2a_common.graph.model.turn_limits",
    "utils.a2a_common.graph.tools.mcp_skills",
    "utils.a2a_common.graph.middleware_stack",
    "utils.a2a_common.graph.model.call",
    "utils.a2a_common.graph.model.prompt_cache",
    "utils.a2a_common.graph.model.delegated_task",
    "utils.resilience.recover",
    "utils.context.factory",
    "utils.context.summarisers.langmem",
    "utils.embeddings.cache",
    "utils.embeddings.minilm",
    "utils.llm.embedded",
    "utils.llm.factory",
    "utils.messages.loaded_ranks",
    "utils.persistence.artifacts",
    "utils.persistence.checkpoints",
    "utils.processes.settings",
    "utils.version",
    "langgraph.checkpoint.sqlite.aio",
    "prometheus_client",
    "uvicorn.lifespan.on",
    "utils.a2a_common.server.http.connections",
    "uvicorn.protocols.websockets.auto",
    "utils.processes.event_loop",
)
"""Modules whose imports make up nearly all that a served agent has imported after its first answer."""
