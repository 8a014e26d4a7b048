"""Greetings, thanks and questions about the assistant itself."""

from __future__ import annotations

import re
from enum import Enum


class Talk(Enum):
    """What kind of small talk a message is."""

    GREETING = "greeting"
    THANKS = "thanks"
    BYE = "bye"
    HELP = "help"


_ADDRESSEE = r"(?:\s+(?:there|you|all|everyone|again|team|bot|assistant|friend|folks))*"
_TABLE = (
    (
        Talk.THANKS,
        r"(?:(?:great|ok|okay|perfect|nice|cool|super|awesome|good|excellent|wonderful)\b[\s,!.]*)*(?:thanks?(?:\s+you)?|thx|ty|cheers|many thanks|much appreciated)\b(?:\s+(?:a lot|so much|very much|again|a bunch|a million|for\s+\w+(?:\s+\w+){0,3}|you))*(?:[\s,!.;-]*(?:that|this|it)(?:'s|\s+is|\s+was)?\s+(?:really |very |so |a lot )?(?:help\w*|work\w*|great|good|useful|perfect|all|enough|what i needed)(?:\s+(?:a lot|me|for now))?)?",
    ),
    (
        Talk.THANKS,
        r"(?:great|perfect|nice|cool|awesome|excellent|well done|good job|ok|okay|got it|that helps?|wonderful)(?:\s+(?:work|job|one))?",
    ),
    (
        Talk.GREETING,
        rf"(?:hello|hi|hey|hiya|howdy|greetings|(?:good )?(?:morning|afternoon|evening)|good day|yo|moin|hallo|nice to meet you){_ADDRESSEE}(?:[\s,!.]*(?:how are (?:you|things)(?: doing)?|how'?s (?:it going|everything|life))(?: today)?)?",
    ),
    (
        Talk.GREETING,
        r"how are you(?: doing)?(?: today)?|what'?s up|how(?: i|'?)s (?:it going|everything|life|your day)(?: today)?|how are things|how do you do",
    ),
    (
        Talk.THANKS,
        r"(?:you(?:'?re| are)|that(?:'s| is| was)|this is)\s+(?:really |so |just |very |simply )*(?:the best|great|awesome|amazing|brilliant|wonderful|fantastic|a star|lovely|cool|helpful|perfect)(?:[\s,!.]*(?:cheers|thanks?(?: you)?|thx))?",
    ),
    (
        Talk.BYE,
        r"(?:bye|goodbye|bye bye|see you|see ya|good night|ciao|farewell)(?:\s+(?:later|soon|tomorrow|then|now))*",
    ),
    (
        Talk.HELP,
        r"help(?:\s+me)?|(?:so\s+)?what (?:can|do|could) you (?:do|help|offer|know how to do)(?:\s.*)?|what are you able to do|how can you help(?: me)?|how do (?:i|you) use (?:you|this)|what are your (?:skills|abilities|capabilities|tools|features)|(?:list|show)(?: me)? your (?:skills|tools|abilities|capabilities)",
    ),
    (
        Talk.HELP,
        r"(?:who|what) are you\b.*|who (?:made|built|wrote|created|developed) you|tell me about yourself|introduce yourself|what is this(?: thing| service| tool)?|(?:nice to meet you[\s,!.]*)?are you (?:really )?(?:an? )?(?:bot|robot|human|person|model|ai|real|machine)(?: or .{1,30})?|what(?:'s| is) your name|what tools do you have|what (?:kind|sort)s? of (?:questions|things) can .*",
    ),
)
_PATTERNS = tuple((talk, re.compile(rf"^\W*(?:{pattern})\W*$", re.IGNORECASE)) for talk, pattern in _TABLE)
_PRELUDE = re.compile(
    r"^\s*(?:(?:thanks?(?: you)?(?: a lot| so much| very much)?|thx|cheers|hello|hi|hey|good (?:morning|afternoon|evening)|great|perfect|ok|okay|nice|cool)"
    r"(?:\s+(?:there|team|again|all|everyone))?\s*(?:[,!.;]+|\s-+)\s+)+(?=\w)",
    re.IGNORECASE,
)


LONGEST = 15
"""Words of a question about the assistant itself at most."""
_ABOUT_ITSELF = re.compile(
    r"\b(?:who|what|whom)\b.{0,20}\b(?:are you|am i (?:talking|speaking|chatting|writing))\b"
    r"|\b(?:talk(?:ing)?|speak(?:ing)?|chat(?:ting)?)\s+(?:to|with)\s+(?:an?|some)\s+(?:\w+\s+)?(?:person|human|machine|robot|bot|computer|ai|model)\b"
    r"|\b(?:are you|is this|is that|you are|you're)\b.{0,20}\b(?:human|person|robot|bot|machine|computer|chatgpt|alive|real|sentient)\b"
    r"|^\W*who'?s there\W*$",
    re.IGNORECASE,
)


def small_talk(text: str) -> Talk | None:
    """The kind of small talk that the whole text is; `None` for anything else."""
    found = next((talk for talk, pattern in _PATTERNS if pattern.match(text)), None)
    return found or (Talk.HELP if len(text.split()) <= LONGEST and _ABOUT_ITSELF.search(text) else None)


def without_prelude(text: str) -> str:
    """A request without the greeting or thanks before it."""
    return _PRELUDE.sub("", text)
