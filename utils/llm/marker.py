"""One marker by which a provider's error is recognised. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from utils.errors import ContextOverflow, ModelFailure

_TOO_LONG_STATUS = frozenset({400, 413, 422, 500})
"""Statuses of a refusal whose text says that the request is too long; llama.cpp answers 500."""


@dataclass(frozen=True)
class Facts:
    """Facts about an exception.

    Attributes:
        classes: `module.Class` of its type and bases; for OpenAI's client, of its cause's too.
        status: HTTP status, if there was a response.
        code: The provider's code or exception name, in lower case.
        text: The provider's message, in lower case.
        retry_after: Seconds to wait, if the provider gave them.
    """

    classes: frozenset[str]
    status: int | None
    code: str
    text: str
    retry_after: float | None


@dataclass(frozen=True)
class Marker:
    """One marker of one provider. All of its conditions must hold.

    Attributes:
        name: What it recognises; also the id of its test.
        failure: The type of the failure.
        message: The message that a user may see.
        text: Part of the provider's message, in lower case.
        code: The provider's code, in lower case.
        status: HTTP status.
        pattern: Pattern of the provider's message, in lower case.
        raised: `module.Class` of the exception or one of its bases.
    """

    name: str
    failure: type[ModelFailure]
    message: str
    text: str | None = None
    code: str | None = None
    status: int | None = None
    pattern: re.Pattern[str] | None = None
    raised: str | None = None

    def matches(self, facts: Facts) -> bool:
        """Whether the exception has this marker."""
        return (
            (self.text is None or self.text in facts.text)
            and (self.code is None or self.code == facts.code)
            and (self.status is None or self.status == facts.status)
            and (self.pattern is None or self.pattern.search(facts.text) is not None)
            and (self.raised is None or self.raised in facts.classes)
            and (self.failure is not ContextOverflow or _may_be_too_long(self, facts))
        )


def _may_be_too_long(marker: Marker, facts: Facts) -> bool:
    certain = marker.pattern is None
    return certain or facts.status is None or facts.status in _TOO_LONG_STATUS
