"""`BegunEffects`: the tools that a turn has called and that may have changed something, and the agents that it has asked, so that a
turn whose answer is lost reports them.

Advising a retry after a change was made would apply it twice. The same holds for a turn that is stopped during such a call: the request cannot
be recalled, and its thread continues.
"""

from __future__ import annotations

from collections import Counter
from contextvars import ContextVar
from dataclasses import dataclass

from utils.errors import StorageError

_current: ContextVar[BegunEffects | None] = ContextVar("effects of the turn", default=None)


@dataclass(frozen=True, slots=True)
class Asked:
    """What an agent that may change something was given by a call.

    Attributes:
        agent: Its name.
        answer: Whether it was the user's answer to its question, which may be the yes to a change; else a request.
    """

    agent: str
    answer: bool = False


class BegunEffects:
    """Made per turn.

    Attributes:
        calls: How often each tool was called, by its name.
        begun: Ids of these calls.
        asked: What agents were given by calls, by the id of the call. Whether it was for a change, only they know.
        over: Why the turn was reported as failed, with what it had begun until then: it begins nothing more.
        cut: Tools whose calls were under way when the turn was stopped.
        below: What agents that were asked say of such calls of theirs: the agent's name and a sentence.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.begun: set[str] = set()
        self.asked: dict[str, Asked] = {}
        self.over: StorageError | None = None
        self.cut: list[str] = []
        self.below: list[tuple[str, str]] = []

    @property
    def tools(self) -> list[str]:
        """Names of the tools, each once, in the order of their first calls, and of the agents that were given an answer."""
        called = [name for name, count in self.calls.items() if count > 0]
        return list(dict.fromkeys([*called, *(each.agent for each in self.asked.values() if each.answer)]))

    @property
    def agents(self) -> list[str]:
        """Names of the agents that were given a request, each once."""
        return list(dict.fromkeys(each.agent for each in self.asked.values() if not each.answer))

    @property
    def under_way(self) -> set[str]:
        """Names of the tools and agents that were stopped during what may be a change."""
        return {*self.cut, *(agent for agent, _ in self.below)}

    def enter(self) -> None:
        """Be those of the turn that runs in the current context, and in what it begins."""
        _current.set(self)


def note_effect(tool: str, call_id: str) -> None:
    """Note that the current turn is about to change something by a tool.

    Raises:
        StorageError: The turn was reported as failed already, so the change must not be made.
    """
    effects = _open_effects()
    if effects is not None:
        effects.calls[tool] += 1
        effects.begun.add(call_id)


def note_asked(agent: str, call_id: str, *, answer: bool = False) -> None:
    """Note that the current turn is about to give an agent a request, or the user's answer to its question: either may cause a change.

    Raises:
        StorageError: The turn was reported as failed already, so the agent must not be asked.
    """
    effects = _open_effects()
    if effects is not None:
        effects.asked[call_id] = Asked(agent, answer)


def forget_asked(call_id: str) -> None:
    """The agent did not take what it was given."""
    effects = _current.get()
    if effects is not None:
        effects.asked.pop(call_id, None)


def _open_effects() -> BegunEffects | None:
    effects = _current.get()
    if effects is not None and effects.over is not None:
        raise effects.over
    return effects


def forget_effect(tool: str, call_id: str) -> None:
    """The call did not begin after all: it waits for the user, and begins again with the answer."""
    effects = _current.get()
    if effects is not None:
        effects.calls[tool] -= 1
        effects.begun.discard(call_id)


def has_begun(call_id: str) -> bool:
    """Whether the current turn has begun a call that may change something: of a tool, or one that gave an agent the user's answer."""
    effects = _current.get()
    if effects is None:
        return False
    asked = effects.asked.get(call_id)
    return call_id in effects.begun or (asked is not None and asked.answer)


def current_effects() -> BegunEffects:
    """What the current turn has begun; nothing outside of a turn."""
    return _current.get() or BegunEffects()


CUT_OFF = "{tools} was still under way: whether it had its effect, or still has it later, is unknown. Find out before you ask again."


def note_cut(tool: str) -> None:
    """Note that the turn was stopped during a call that may change something."""
    effects = _current.get()
    if effects is not None:
        effects.cut.append(tool)


def note_cut_below(agent: str, sentence: str) -> None:
    """Record a sub-agent's sentence about a call that was under way when it was stopped."""
    effects = _current.get()
    if effects is not None:
        effects.below.append((agent, sentence))


def cut_off() -> str:
    """The sentence about open calls for the user who stopped the current turn; empty if none are open."""
    effects = _current.get()
    if effects is None:
        return ""
    tools = " and ".join(dict.fromkeys(effects.cut))
    own = [CUT_OFF.format(tools=tools)] if tools else []
    return " ".join([*own, *cut_off_below()])


def cut_off_below() -> list[str]:
    """The sub-agents' sentences about calls that were under way when the current turn ended, without repetition."""
    effects = _current.get()
    return list(dict.fromkeys(sentence for _, sentence in effects.below)) if effects is not None else []
