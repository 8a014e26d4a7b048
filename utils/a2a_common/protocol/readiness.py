"""What `/readyz` answers."""

from __future__ import annotations

from dataclasses import dataclass

PROCESS_HEADER = "X-Process-Id"
"""Header of the answer: the id of the process that gives it, so that whoever started one knows whether it is that one."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether an agent can take work.

    Attributes:
        ready: True when a request sent now would be served.
        detail: One sentence for an operator when it would not.
        without: Names of the agents that it does without, since they cannot be reached.
        busy: What it does in the background while it takes work, such as "8 of 40 passages embedded", or to get ready: who
            waits for it then has more patience.
    """

    ready: bool
    detail: str = ""
    without: tuple[str, ...] = ()
    busy: str = ""
