"""`LocalQueue`: the turns of one process that run or wait, and which of them begins next."""

from __future__ import annotations

from collections import Counter

from utils.a2a_common.engine.load import ConversationLoad, Load


class LocalQueue:
    """The running and the waiting turns of one process. `Load` decides which begin, as it does for several replicas.

    Args:
        at_once: Maximum number of turns that run at the same time.
        max_waiting: Maximum number of waiting turns; a turn that begins at once does not count.
        fair: Whether places are shared among the callers.
    """

    def __init__(self, at_once: int, max_waiting: int, *, fair: bool = False) -> None:
        self._at_once = at_once
        self._max_waiting = max_waiting
        self._fair = fair
        self._running: dict[str, str] = {}
        self._waiting: dict[str, str] = {}
        self._held: set[str] = set()

    @property
    def running(self) -> int:
        """How many turns run."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """How many turns wait."""
        return len(self._waiting)

    def has_room(self, conversation: str) -> bool:
        """Whether a turn of a conversation would begin now, or may wait."""
        return self._load(conversation).has_room(self._max_waiting)

    def join(self, task_id: str, conversation: str) -> None:
        """Append a turn, without a check of the limits."""
        self._waiting[task_id] = conversation

    def is_waiting(self, task_id: str) -> bool:
        """Whether a turn waits."""
        return task_id in self._waiting

    def remove(self, task_id: str) -> None:
        """Remove a turn that has ended, or that does not wait any more."""
        self._running.pop(task_id, None)
        self._waiting.pop(task_id, None)

    def hold(self, conversation: str) -> bool:
        """Let no turn of a conversation begin until `release`.

        Returns:
            `False` if one runs or waits, or if the conversation is held already: nothing is changed.
        """
        if self._load(conversation).busy:
            return False
        self._held.add(conversation)
        return True

    def release(self, conversation: str) -> None:
        """Let turns of a held conversation begin again."""
        self._held.discard(conversation)

    def begin_next(self) -> list[str]:
        """The tasks whose turns begin now; these count as running until `remove`."""
        waiting = list(self._waiting)
        begun = [waiting[place - 1] for place in self._load().beginning()]
        for task_id in begun:
            self._running[task_id] = self._waiting.pop(task_id)
        return begun

    def _load(self, conversation: str = "") -> Load:
        """All turns of this process; a waiting turn's job is its place in the queue."""
        running = Counter(self._running.values())
        waiting = Counter(self._waiting.values())
        first: dict[str, int] = {}
        for place, waits in enumerate(self._waiting.values(), start=1):
            first.setdefault(waits, place)
        loads = [
            ConversationLoad(each, running[each], waiting[each], first.get(each, 0))
            for each in dict.fromkeys((*running, *waiting))
        ]
        return Load(self._at_once, loads, conversation, self._fair, frozenset(self._held))
