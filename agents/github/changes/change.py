"""One change on GitHub. Exactly what the user is shown is sent. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from utils.errors import UpstreamRefused
from utils.messages.approval import check_shown, fenced
from utils.messages.invisible import invisible_in

NOTHING = "Nothing was sent"

Value = str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Change:
    """A request that changes something.

    Attributes:
        what: A noun phrase for the change: "a comment on #5 of octocat/hello-world".
        path: Path of the request under the API's address; the method is POST.
        body: The JSON that is sent.
        linked: Whether GitHub returns the address of what it creates.
    """

    what: str
    path: str
    body: Mapping[str, Value] = field(default_factory=dict)
    linked: bool = True

    @property
    def digest(self) -> str:
        """Identifies this change: another path or body has another digest."""
        text = json.dumps([self.path, dict(self.body)], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def shown(self, api_url: str) -> str:
        """The whole change as text for the user."""
        parts = [f"POST {api_url.rstrip('/')}/{self.path}"]
        parts += [f"{name}:\n{fenced(_text(value))}" for name, value in self.body.items()]
        return "\n\n".join(parts)


def checked(change: Change) -> Change:
    """Check that all of the change can be shown to the user, and return it.

    Raises:
        UpstreamRefused: It is too long to show, or contains invisible characters.
    """
    texts = [
        text for value in change.body.values() for text in ([value] if isinstance(value, str) else value)
    ]
    check_shown(change.what, map(_text, change.body.values()), NOTHING)
    if any(map(invisible_in, texts)):
        raise UpstreamRefused(
            f"{NOTHING}: {change.what} holds invisible characters, so it cannot be shown as it is."
        )
    return change


def _text(value: Value) -> str:
    return value if isinstance(value, str) else "\n".join(value)
