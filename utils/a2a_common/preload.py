"""What every agent's process imports sooner or later, for a process that imports it once and forks them.

None of these may start a thread, read a setting or open anything when it is imported.
"""

from __future__ import annotations

SHARED_MODULES = (
    "utils.a2a_common.serve",
    "utils.a2a_common.server",
    "utils.resilience.recover",
    "utils.embeddings.cache",
    "utils.embeddings.minilm",
    "utils.llm.embedded",
    "utils.llm.factory",
    "utils.a2a_common.graph_turn",
    "utils.a2a_common.base_langgraph_agent_executor",
    "utils.a2a_common.budget_guard",
    "utils.a2a_common.agent_middleware",
    "utils.a2a_common.card",
    "utils.a2a_common.mcp_skills",
    "utils.a2a_common.observed_model",
    "utils.a2a_common.told_scope",
    "utils.context.factory",
    "utils.context.summarisers.langmem",
    "utils.persistence.artifacts",
    "utils.persistence.checkpoints",
    "utils.version",
    "langgraph.checkpoint.sqlite.aio",
    "prometheus_client",
    "uvicorn.lifespan.on",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
)
"""Modules whose imports make up nearly all that a served agent has imported after its first answer."""
