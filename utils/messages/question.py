"""A question to the user: as the value of a LangGraph interrupt, as it is stored with a delegation, and as a model's answer. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from utils.errors import UpstreamRefused
from utils.messages.approval import LONGEST_QUESTION, approval_form, digest_in_form
from utils.messages.marks import ASKS_USER

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage


@dataclass(frozen=True, slots=True)
class Question:
    """What the user is asked before a run continues.

    Attributes:
        text: The question, in words.
        origin: Who asks; empty for the agent whose run it is.
        form: JSON schema of the answer, for clients that show forms.
        auth: Whether the user has to sign in somewhere first.
        parts: Other data that a remote agent asked with, each as JSON in the protocol's form.
        id: Id of the remote agent's message that asks; empty if no remote agent asks.
        seen: Marks of what the remote task had said when it asked.
    """

    text: str
    origin: str = ""
    form: Mapping[str, Any] | None = None
    auth: bool = False
    parts: Sequence[Mapping[str, Any]] = ()
    id: str = ""
    seen: Sequence[str] = ()

    @classmethod
    def of(cls, value: Any) -> Self:
        """The question in an interrupt's value. Graphs of agents' authors interrupt with plain text, or with some of the fields."""
        if not isinstance(value, Mapping):
            return cls(str(value))
        form, parts = value.get("form"), value.get("parts") or ()
        return cls(
            str(value.get("question", "")),
            str(value.get("origin", "")),
            form if isinstance(form, Mapping) else None,
            bool(value.get("auth")),
            [part for part in parts if isinstance(part, Mapping)],
            str(value.get("id", "")),
            tuple(value.get("seen") or ()),
        )

    def value(self) -> dict[str, Any]:
        """The interrupt's value: JSON, since it is stored in checkpoints."""
        return {
            "question": self.text,
            "origin": self.origin,
            "form": None if self.form is None else dict(self.form),
            "auth": self.auth,
            "parts": [dict(part) for part in self.parts],
            "id": self.id,
            "seen": list(self.seen),
        }

    @property
    def digest(self) -> str:
        """Digest of what it asks to approve; empty if it asks for something else."""
        return "" if self.form is None else digest_in_form(self.form)


def approval_question(
    parts: Sequence[str], title: str, digest: str, *, nothing: str, origin: str = ""
) -> Question:
    """A question that asks for an approval. It is asked whole or not at all.

    Args:
        parts: The paragraphs of the question.
        title: Of the form.
        digest: Binds the answer to what is shown.
        nothing: The sentence if it is too long to be asked, as in "Nothing was sent".
        origin: Who asks.

    Raises:
        UpstreamRefused: It is longer than a question may be.
    """
    text = "\n\n".join(part for part in parts if part)
    if len(text) > LONGEST_QUESTION:
        raise UpstreamRefused(
            f"{nothing}: the question would have {len(text)} characters, which is more than the {LONGEST_QUESTION} that "
            "can be shown for approval. Make what is to be approved shorter."
        )
    return Question(text, origin, approval_form(title, digest))


def asks_user(message: AIMessage) -> bool:
    """Whether a model's answer, or a chunk of it, asks the user for something."""
    return bool(ASKS_USER.of(message))
