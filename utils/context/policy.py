"""Thresholds and sizes of context management: `ContextPolicy`, and presets that reproduce known systems.

There are two limits: the *window* of the model, and the *input budget*, which is the window minus the
tokens reserved for the answer and a small margin. Thresholds are shares of the input budget, or of the
window if a preset reproduces a system that defines them so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class PipelineStage(StrEnum):
    """An optional stage of the pipeline. Repair, clip and verify always run."""

    TRUNCATE = "truncate"
    CLEAR = "clear"
    COMPRESS = "compress"
    SUMMARISE = "summarise"


ALL_STAGES = frozenset(PipelineStage)

_RESERVE_CAP = 16_384
_MARGIN_CAP = 512
_AHEAD_LEAST, _AHEAD_TO = 0.8, 0.45
_TOPIC_AT, _TOPIC_TO = 0.4, 0.5


@dataclass(frozen=True, slots=True)
class ContextPolicy:
    """Thresholds and sizes of context management.

    Attributes:
        window: Context window of the model, in tokens.
        output_reserve: Tokens reserved for the answer; min(16,384, a quarter of the window) if unset.
        margin: Tokens reserved for inaccurate counts; min(512, 1/32 of the window) if unset.
        of_window: Whether thresholds are shares of the window, where it has room for them, instead of the input budget.
        stages: The optional stages that run.
        max_tool_output: Largest tool result that is not truncated, in characters.
        ranked_share: Largest share of the input budget of one ranked list.
        clear_at: Share at which old tool results are cleared. Late, since a request that is changed is a lost prompt cache.
        clear_keep: Number of latest exchanges with tool calls whose results are not cleared.
        clear_keep_share: Share that those of answered turns may take; beyond it only the last one of them stays.
        clear_gain: Smallest share that clearing must free; if it frees less, the prompt cache is worth more.
        compress_at: Share at which ranked results are compressed.
        compress_to: Share of the request after compression.
        compress_ratio: Size of a compressed item as a share of the original.
        summarise_at: Share at which a turn begins with a summary.
        summarise_at_tokens: Number of tokens at which a turn begins with a summary, if that is less.
        summarise_to: Share of the request after a summary.
        topic_at: Share from which what was said before is summarised when the user turns to another topic; never if unset.
        extract_to: Share of the request after an extract by rules. It costs no model call, so it may fill the request,
            and is made only if the request is over the budget. If unset, an extract is treated as a summary.
        summarise_gain: Smallest share that a summary at the start of a turn must free.
        max_summary_tokens: Most tokens of a summary; never over a tenth of the budget.
        keep_messages: Number of latest messages that a summary does not cover, if they fit.
        max_messages: Most visible messages; no limit if unset.
        max_turns: Most visible turns before the active request; no limit if unset.
        compress_ahead: Whether to compress as soon as one more result of this turn's average size would not fit.
        system_as_user: Whether the system message is repeated as the first user message.
        use_model: Whether a model writes summaries; if not, extracts are made.
        active_share: Share of the free budget above which the active request may be clipped.
        pinned_share: Largest share of the input budget of the constraints.
    """

    window: int = 128_000
    output_reserve: int | None = None
    margin: int | None = None
    of_window: bool = False
    stages: frozenset[PipelineStage] = ALL_STAGES
    max_tool_output: int = 10_000
    ranked_share: float = 0.5
    clear_at: float = 0.80
    clear_keep: int = 3
    clear_keep_share: float = 0.20
    clear_gain: float = 0.20
    compress_at: float = 0.85
    compress_to: float = 0.80
    compress_ratio: float = 0.30
    summarise_at: float = 0.80
    summarise_at_tokens: int | None = None
    summarise_to: float = 0.50
    topic_at: float | None = None
    extract_to: float | None = None
    summarise_gain: float = 0.10
    max_summary_tokens: int = 2_000
    keep_messages: int = 4
    max_messages: int | None = None
    max_turns: int | None = None
    compress_ahead: bool = False
    system_as_user: bool = False
    use_model: bool = True
    active_share: float = 0.5
    pinned_share: float = 0.25

    @property
    def reserve(self) -> int:
        """Tokens reserved for the answer."""
        if self.output_reserve is not None:
            return min(self.output_reserve, self.window // 2)
        return min(_RESERVE_CAP, self.window // 4)

    @property
    def input_budget(self) -> int:
        """Most tokens of a request, including tools."""
        margin = min(_MARGIN_CAP, self.window // 32) if self.margin is None else self.margin
        return max(1, self.window - self.reserve - margin)

    def tokens(self, share: float) -> int:
        """A threshold in tokens; never more than the input budget."""
        return int(self._basis * share)

    @property
    def _basis(self) -> int:
        """What thresholds are shares of: never the window where its largest threshold leaves no room for the answer.

        All thresholds change over together. Cut off one by one, the threshold that begins a stage and the one
        that ends it would meet at the input budget, and every request would be compacted once more.
        """
        starts = [self.summarise_at]
        if PipelineStage.COMPRESS in self.stages:
            starts.append(self.compress_at)
        fits = self.window * max(starts) <= self.input_budget
        return self.window if self.of_window and fits else self.input_budget

    @property
    def ranked_tokens(self) -> int:
        """Most tokens of one list of ranked items."""
        return int(self.input_budget * self.ranked_share)

    @property
    def summary_tokens(self) -> int:
        """Most tokens of a summary."""
        return max(32, min(self.max_summary_tokens, self.input_budget // 10))

    def with_window(self, window: int) -> ContextPolicy:
        """The policy for another window."""
        return replace(self, window=window)

    def for_next_turn(self, turn: int, new_topic: int | None = None) -> ContextPolicy:
        """The policy for a compaction after an answer.

        It goes further, so that turns seldom need one, and begins earlier, down to four fifths, where the next turn would
        not fit otherwise. If the last turn began another topic, it begins at `topic_at`, and leaves that turn unchanged.

        Args:
            turn: Tokens of the last turn, which the next one is expected to have.
            new_topic: Messages of the last turn if it began another topic.
        """
        room = (self.input_budget - turn) / self._basis
        at = max(self.summarise_at * _AHEAD_LEAST, min(self.summarise_at, room))
        tokens = self.summarise_at_tokens
        following = replace(
            self,
            clear_at=min(self.clear_at, at),
            summarise_at=at,
            summarise_to=min(self.summarise_to, self.summarise_at * _AHEAD_TO),
            summarise_at_tokens=tokens and max(int(tokens * _AHEAD_LEAST), tokens - turn),
            extract_to=None,
        )
        if new_topic is None or self.topic_at is None:
            return following
        return replace(
            following,
            summarise_at=min(at, self.topic_at),
            summarise_to=min(following.summarise_to, self.topic_at * _TOPIC_TO + turn / self._basis),
            keep_messages=max(self.keep_messages, new_topic + 1),  # and the request to come
        )

    def may_lack_room(self, tokens: int | None) -> bool:
        """Whether a compaction after an answer may have anything to do. A doubt is a yes.

        Args:
            tokens: What the conversation takes by now, half as much or twice as much; `None` if that is not known.
        """
        if (
            tokens is None
            or self.compress_ahead
            or self.max_messages is not None
            or self.max_turns is not None
        ):
            return True
        earliest = self.for_next_turn(self.input_budget, new_topic=1)
        starts = [earliest.summarise_at]
        if PipelineStage.CLEAR in self.stages:
            starts.append(earliest.clear_at)
        if PipelineStage.COMPRESS in self.stages:
            starts.append(earliest.compress_at)
        begins = min(self.tokens(min(starts)), earliest.summarise_at_tokens or self.window)
        return tokens * 2 >= begins

    def scaled(self, ratio: float) -> ContextPolicy:
        """The policy in counted tokens, of which the provider charges each as `ratio` tokens."""
        if ratio == 1.0:
            return self
        return replace(
            self,
            window=max(1, int(self.window / ratio)),
            output_reserve=int(self.reserve / ratio),
            summarise_at_tokens=self.summarise_at_tokens and int(self.summarise_at_tokens / ratio),
        )


def standard(window: int) -> ContextPolicy:
    """The default."""
    return ContextPolicy(window=window, topic_at=_TOPIC_AT)


def caipe(window: int) -> ContextPolicy:
    """Summarise at 80 % of the window to 50 %, keeping at least ten messages."""
    return ContextPolicy(
        window=window,
        of_window=True,
        stages=frozenset({PipelineStage.TRUNCATE, PipelineStage.SUMMARISE}),
        summarise_at=0.80,
        summarise_to=0.50,
        keep_messages=10,
    )


def rag(window: int) -> ContextPolicy:
    """Compress articles at 85 % of the window to 80 %, each to 30 %, before any summary."""
    return ContextPolicy(
        window=window,
        of_window=True,
        stages=frozenset({PipelineStage.TRUNCATE, PipelineStage.COMPRESS, PipelineStage.SUMMARISE}),
        compress_at=0.85,
        compress_to=0.80,
        compress_ratio=0.30,
        summarise_at=0.85,
    )


def research(window: int) -> ContextPolicy:
    """Clear old tool results; summarise at 80,000 tokens to at most 2,000, keeping five messages."""
    return ContextPolicy(
        window=window,
        stages=frozenset({PipelineStage.CLEAR, PipelineStage.SUMMARISE}),
        clear_at=0.60,
        summarise_at=1.0,
        summarise_at_tokens=80_000,
        max_summary_tokens=2_000,
        keep_messages=5,
    )


def pipelit(window: int) -> ContextPolicy:
    """The most recent messages that fit; no model call."""
    return ContextPolicy(
        window=window,
        output_reserve=min(_RESERVE_CAP, window // 4),
        margin=min(_MARGIN_CAP, window // 32),
        stages=frozenset({PipelineStage.SUMMARISE}),
        summarise_at=1.0,
        summarise_to=1.0,
        use_model=False,
    )


def turns(window: int) -> ContextPolicy:
    """The last ten turns, which are twenty messages if no tool is called; no model call."""
    return ContextPolicy(
        window=window,
        stages=frozenset({PipelineStage.SUMMARISE}),
        summarise_at=1.0,
        summarise_to=0.9,
        max_turns=10,
        use_model=False,
    )


PRESETS = {
    "standard": standard,
    "caipe": caipe,
    "rag": rag,
    "research": research,
    "pipelit": pipelit,
    "turns": turns,
}
"""Presets by name, as functions of the window."""
