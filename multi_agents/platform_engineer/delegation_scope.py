"""Decides which context a remote agent gets with its sub-task, and whether the delegation would be a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph.types import interrupt

from multi_agents.platform_engineer import leaving
from multi_agents.platform_engineer.conversation_digest import briefing
from utils.a2a_common.protocol.delegation_chain import Hop, hop, refusal
from utils.a2a_common.protocol.delegation_context import (
    DelegationContext,
    reference_of,
    takes_delegation_context,
)
from utils.a2a_common.protocol.shares import Shares
from utils.auth.nonce import nonce_for
from utils.context.refused import accepted_messages
from utils.messages.approval import approves

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from langchain.tools import ToolRuntime

    from multi_agents.platform_engineer.tool_call_origin import ToolCallOrigin
    from utils.a2a_common.client.agents.registry import SubAgentRegistry
    from utils.a2a_common.protocol.request import AgentRequest
    from utils.persistence.delegations import DelegationRecord


class DelegationScopes:
    """Makes the scoped context of each delegation.

    Args:
        registry: The agents' cards.
        me: Name and address of the agent that delegates.
        shares: What each agent receives; nothing for an agent that is not in it.
        own: Our own agents; the others are foreign.
        history_turns: How many earlier turns an agent gets at most.
        key: Derives the secrets that prove to an agent that an answer comes from us.
    """

    def __init__(
        self,
        registry: SubAgentRegistry,
        *,
        me: tuple[str, str],
        shares: Mapping[str, Shares],
        own: Container[str],
        history_turns: int,
        key: bytes,
    ) -> None:
        self._registry = registry
        self._name, self._url = me
        self._shares, self._own = shares, own
        self._history_turns = history_turns
        self._key = key

    def secret(self, kept: DelegationRecord) -> str:
        """The secret that shows the agent that all messages of a delegation come from us; the same after a restart."""
        return nonce_for(self._key, kept.agent, kept.id)

    def circular(self, name: str, text: str, runtime: ToolRuntime[AgentRequest]) -> str:
        """Why the request is not delegated if it would be a loop; otherwise empty."""
        card = self._registry.get(name).card
        interfaces = card.supported_interfaces if card is not None else ()
        following = hop(name, interfaces[0].url, text) if interfaces else Hop(name, "")
        return refusal(self._trail(runtime), following)

    def kept_back(
        self, name: str, text: str, cause: ToolCallOrigin, runtime: ToolRuntime[AgentRequest]
    ) -> str:
        """Why a foreign agent does not get a request, after asking the user if needed. Empty if it gets it."""
        messages, shares = runtime.state["messages"], self._shares.get(name, Shares.NOTHING)
        if not leaving.needs_confirmation(name, messages, cause.call_id, shares, self.is_own):
            return ""
        question = leaving.question_of(name, text, self._name)
        if question is None:
            return leaving.TOO_LONG.format(agent=name)
        approved = approves(interrupt(question.value()), leaving.digest_of(name, text))
        return "" if approved else leaving.DECLINED.format(agent=name)

    def _trail(self, runtime: ToolRuntime[AgentRequest]) -> list[Hop]:
        """The chain that ends with us and the request that we work on."""
        digest, parent = briefing(runtime.state["messages"], 0), runtime.context.delegation
        ours = hop(self._name, self._url, digest.request or runtime.context.text)
        return [*(parent.trail if parent else ()), ours]

    def is_own(self, name: str) -> bool:
        """Whether an agent is one of ours, by our configuration and not by its own account."""
        return name in self._own

    def scope(
        self,
        kept: DelegationRecord,
        cause: ToolCallOrigin,
        runtime: ToolRuntime[AgentRequest],
        seconds: float,
    ) -> DelegationContext | None:
        """The context that the configuration lets the agent have with its sub-task; `None` for an agent that accepts none."""
        shares, card = self._shares.get(kept.agent, Shares.NOTHING), self._registry.get(kept.agent).card
        if card is None or not takes_delegation_context(card, shares):
            return None
        whole = self._whole_scope(cause, runtime, seconds)
        if not self.is_own(kept.agent):
            whole = whole.without_others({kept.agent}, self.is_own)
        return whole.within(shares, kept.request, hop(self._name, self._url, kept.request).digest)

    def _whole_scope(
        self, cause: ToolCallOrigin, runtime: ToolRuntime[AgentRequest], seconds: float
    ) -> DelegationContext:
        request, digest = runtime.context, briefing(accepted_messages(runtime.state), self._history_turns)
        user = {"name": request.caller.name, "tenant": request.caller.tenant}
        return DelegationContext(
            original_request=digest.request or request.text,
            subtask_index=cause.index,
            total_subtasks=cause.total,
            parent_task_id=reference_of(request.task_id),
            deadline_seconds=seconds,
            previous_results=digest.results,
            conversation_history=digest.history,
            user={name: value for name, value in user.items() if value},
            budget=request.meter.left(),
            trail=self._trail(runtime),
        )
