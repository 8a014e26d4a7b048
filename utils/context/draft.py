"""A request between two stages: its messages, the decisions so far, and its token counts. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from utils.context.block import system_block
from utils.context.compaction import Compaction, visible_messages
from utils.context.policy import ContextPolicy
from utils.context.protocols import TokenCounter
from utils.context.report import Changed, StageResult
from utils.context.strategies.compress import expected_growth, expected_result
from utils.context.worker_thread import is_large
from utils.messages.repair import Repair
from utils.messages.tokens import TOKENS_PER_REPLY

SYSTEM_AS_USER = "system-as-user"
"""Id of the user's message that repeats the system message."""


def repeated_as_user(block: SystemMessage | None, policy: ContextPolicy) -> list[BaseMessage]:
    """The system message as a user message if the policy asks for it, else nothing.

    It is made for each request and never stored, so that it cannot appear twice.
    """
    if block is None or not policy.system_as_user:
        return []
    return [HumanMessage(block.content, id=SYSTEM_AS_USER)]


@dataclass(frozen=True)
class Draft:
    """One request between two stages.

    Attributes:
        repaired: The complete repaired conversation.
        system: The agent's system message.
        pinned: Texts of the constraints, verbatim.
        tool_tokens: Tokens of the tool schemas.
        policy: Thresholds, in counted tokens.
        counter: Counts tokens.
        compaction: Decisions so far.
        visible: The messages that are sent, according to `compaction`.
        artifacts: Texts to store, by handle.
        steps: What the stages have done.
        rules: Every constraint in force, each with whether it is shown.
        calls_left: Model calls that may still follow in this turn; no limit if unset.
    """

    repaired: Repair
    system: SystemMessage | None
    pinned: tuple[str, ...]
    tool_tokens: int
    policy: ContextPolicy
    counter: TokenCounter
    compaction: Compaction
    visible: tuple[BaseMessage, ...]
    artifacts: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[StageResult, ...] = ()
    rules: tuple[tuple[str, bool], ...] = ()
    calls_left: int | None = None

    @property
    def history(self) -> list[BaseMessage]:
        """The complete conversation without its system message."""
        return self.repaired.history

    @cached_property
    def is_large(self) -> bool:
        """Whether work on the visible messages should run in a worker thread."""
        return is_large(self.visible)

    @property
    def budget(self) -> int:
        """Counted tokens that the request may have."""
        return self.policy.input_budget

    @cached_property
    def fixed(self) -> int:
        """Tokens that no stage can reduce: system prompt, pinned constraints, tools."""
        return self._cost_of(Compaction())

    @property
    def free(self) -> int:
        """Tokens left for messages and summary."""
        return self.budget - self.fixed

    @cached_property
    def overhead(self) -> int:
        """Tokens of everything except the messages: `fixed`, summary and list of stored texts."""
        if not (self.compaction.summary or self.compaction.stored_texts):
            return self.fixed
        return self._cost_of(self.compaction)

    @cached_property
    def total(self) -> int:
        """Tokens of the request."""
        return self.overhead + sum(map(self.counter.message, self.visible))

    @property
    def lacking(self) -> int:
        """Tokens over the budget if the turn gets one more tool result of the expected size."""
        if self.calls_left == 0:
            return self.total - self.budget
        return self.total + expected_result(self.visible, self.counter) - self.budget

    def begins_at(self, share: float) -> int:
        """The tokens from which a stage makes room for the rest of the turn.

        A threshold keeps room for results that are still to come. Where the calls that are left cannot take it all, if each adds as much as
        the turn's calls before did, the threshold rises by what stays free: the results stay complete, and the provider's prompt cache valid.
        """
        at = self.policy.tokens(share)
        growth = expected_growth(self.visible, self.counter)
        if self.calls_left is None or growth is None:
            return at
        return max(at, self.budget - self.calls_left * growth)

    def block(self) -> SystemMessage | None:
        """The system message as it will be sent."""
        return system_block(self.system, self.pinned, self.compaction)

    @property
    def bare(self) -> int:
        """Tokens of the agent's own system message and of the reply's opening."""
        return TOKENS_PER_REPLY + self._block_cost(self.system)

    def decided(self, compaction: Compaction) -> Draft:
        """The draft with these decisions applied."""
        return replace(self, compaction=compaction, visible=tuple(visible_messages(self.history, compaction)))

    def changed(self, strategy: str, changed: Changed, before: int) -> Draft:
        """The draft after a stage that replaced contents; the same draft if it replaced none."""
        touched = sum(1 for old, new in zip(self.visible, changed.messages, strict=True) if old is not new)
        if not touched:
            return self
        draft = self.decided(self.compaction.with_changes(self.visible, changed.messages))
        step = StageResult(strategy, before, draft.total, touched, changed.details, changed.failed)
        return draft.noted(step, changed.artifacts)

    def noted(self, step: StageResult, artifacts: Mapping[str, str]) -> Draft:
        """The draft with one more step and more texts to store."""
        return replace(
            self,
            compaction=self.compaction.with_given(artifacts),
            artifacts={**self.artifacts, **artifacts},
            steps=(*self.steps, step),
        )

    def _cost_of(self, compaction: Compaction) -> int:
        block = system_block(self.system, self.pinned, compaction)
        return self.tool_tokens + TOKENS_PER_REPLY + self._block_cost(block)

    def _block_cost(self, block: SystemMessage | None) -> int:
        repeated = repeated_as_user(block, self.policy)
        return sum(map(self.counter.message, ([block] if block else []) + repeated))
