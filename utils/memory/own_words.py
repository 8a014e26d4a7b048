"""What of a user's message may be remembered: the user's own words without secrets, and not what asks to forget. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from utils.context.constraints import sentences
from utils.memory.memory import LONGEST, one_line
from utils.messages.secret_words import asks_for_secret
from utils.messages.words import words_of
from utils.observability.redaction import redact_text

LONGEST_MESSAGE = 4_000
"""Characters of a message that are looked at."""

_SHORTEST = 4
_NUMBER = re.compile(r"(?:\d[ -]?){13,}|\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){3,}")
"""Numbers of cards and accounts."""

_SMALL = (
    "a about am an and are as at be but by do for from had has have he her his how i if in into is it its me my no not of on "
    "or our she so that the their them then they this to us was we what when where which who will with you your "
    "das dem den der des die ein eine ich ist mein meine mit und von zu "
    "de del el en es la las lo los mi que un una y au aux ce du et je le les ma mon "
    "forget delete remove erase please remember"
)
_COMMON = frozenset(_SMALL.split())
"""Words that say nothing of what is meant."""

_FORGET = re.compile(
    r"\b(?:forget|delete|remove|erase|unlearn|vergiss|vergessen|l(?:ö|oe)sch\w*|entfern\w*|olvid\w+|borr\w+|elimin\w+"
    r"|oubli\w+|efface\w*|supprim\w+|retir\w+)\b|忘|删除|刪除|削除|消し|消去",
    re.IGNORECASE,
)


def tells_secret(text: str) -> bool:
    """Whether a text seems to hold a password, a key, a token, or the number of a card or an account."""
    return asks_for_secret(text, None) or redact_text(text) != text or _NUMBER.search(text) is not None


def asks_to_forget(text: str) -> bool:
    """Whether a message has a word that asks to forget or to delete."""
    return _FORGET.search(text) is not None


def names(message: str, memory: str) -> bool:
    """Whether a message has a word of a memory, beside the most common ones."""
    words = (frozenset(words_of(text)) - _COMMON for text in (message, memory))
    said, known = (frozenset(word for word in some if len(word) > 1) for some in words)
    return bool(said & known)


def may_teach(text: str) -> bool:
    """Whether a message may say anything to remember: one that only asks does not, nor does one that asks to forget."""
    said = sentences(text)
    return (
        bool(said) and not asks_to_forget(text) and not all(each.endswith(("?", "\uff1f")) for each in said)
    )


def quoted(quote: str, messages: Sequence[str]) -> str | None:
    """A quote as it is kept; `None` where no message of the user has it, or it is none that may be kept."""
    kept = one_line(quote)
    said = any(kept in " ".join(message.split()) for message in messages)
    fits = len(kept) >= _SHORTEST and len(" ".join(quote.split())) <= LONGEST
    return kept if said and fits and not tells_secret(quote) else None


def told_openly(message: str) -> str:
    """A message without the sentences that tell a secret or ask to forget; empty where nothing is left."""
    lines = (line for line in message[:LONGEST_MESSAGE].splitlines() if line.strip())
    kept = [_openly(line) for line in lines]
    return "\n".join(line for line in kept if line)


def _openly(line: str) -> str:
    parts = re.split(r"(?<=[.!?\u3002\uff01\uff1f;])\s*", line)
    return " ".join(part for part in parts if part and not tells_secret(part) and not asks_to_forget(part))
