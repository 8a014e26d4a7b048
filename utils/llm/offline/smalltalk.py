"""Greetings, thanks and questions about the assistant itself, told phrase by phrase: "morning! you there?" are two."""

from __future__ import annotations

import re
from enum import Enum

from utils.llm.offline.grammar import pattern


class Talk(Enum):
    """What kind of small talk a message is, the one that is answered first at the top."""

    HELP = "help"
    BYE = "bye"
    THANKS = "thanks"
    GREETING = "greeting"


LONGEST = 15
"""Words of small talk at most."""
_TO = r"(?: (?:there|you|all|everyone|everybody|again|team|bot|buddy|mate|assistant|friend|folks|guys|so much|very much|a lot|a bunch|a million|today|to you))*"
_MORE = r"(?: (?:for|with|to|me|us|here|exactly|really|actually|all|everything|help|about|yourself|do|as|this|(?:a|this|the) (?:bot|chat|tool|service|assistant)))*"
_LEAD = "ok|okay|that's|that is|that was|this is|this was|it's|it is|it was|you're|you are|you were|how|so|really|very|just|simply|an?|the|all|well|pretty|super"
_GOOD = (
    "great|perfect|nice|cool|super|awesome|amazing|excellent|wonderful|brilliant|fantastic|lovely|helpful|useful|neat|sweet|impressive|good|best|star"
    "|lifesaver|done|fine|enough|what i needed|what i was looking for"
)
_PHRASES = {
    Talk.GREETING: (
        rf"(?:hello|hi|hey|hiya|howdy|hullo|greetings|(?:good )?(?:morning|afternoon|evening)|good day|yo|moin|hallo|welcome back){_TO}",
        r"(?:it(?:'s| is) )?(?:(?:so )?nice|good|great|lovely|pleased) to (?:meet|see) you(?: again)?|long time no see|knock knock",
        r"(?:are |r )?(?:you|u) (?:still )?(?:there|awake|alive|around|up|online|ready|listening|ok|okay|well)(?: today| yet)?",
        r"(?:is )?any(?:one|body) (?:there|home|here|around|listening)|can you (?:hear|read|see) me|ping|test(?:ing)?(?: test(?:ing)?| one two(?: three)?)?",
        r"how are (?:you|things)(?: doing)?(?: today)?|how(?: i|')?s (?:it going|everything|life|your (?:day|morning|week))(?: today| going)?|what(?:'s| is)? up|how do you do",
        r"how (?:have you been|you doing)|(?:i(?:'m| am) )?(?:fine|good|great|well)(?: thanks)?|and you|happy (?:monday|tuesday|wednesday|thursday|friday|weekend|new year)",
    ),
    Talk.THANKS: (
        rf"(?:many |big |ok |okay |great |perfect |nice |cool )*(?:thanks?(?: you)?|thx|tnx|ty|cheers|much appreciated|i appreciate (?:it|that)){_TO}(?: for (?:\w+ ?){{1,5}})?",
        rf"(?:{_LEAD} )*(?:{_GOOD})(?: job| work| one| stuff| bot| indeed| for now| help)?",
        r"(?:that|this|it)(?: really| just)? (?:help(?:s|ed)|work(?:s|ed)|did it|does it|will do)(?: a lot| me)*|got it|i see|understood|makes sense|ok(?:ay)?|alright|all right",
        r"(?:ha)+h?|lol|wow|oh|sorry|my bad|no worries|never mind|nevermind|you(?:'re| are) welcome|i (?:like|love) (?:it|this|that|you)|that(?:'s| is) (?:all|it)(?: for (?:now|today))?",
    ),
    Talk.BYE: (
        r"(?:good ?)?bye(?: bye)?|see (?:you|ya)|good ?night|ciao|farewell|(?:see you |talk |catch you )?(?:later|soon|tomorrow|next time)|take care|have a (?:good|great|nice) (?:\w+)",
        r"so long|i(?:'m| am) (?:off|done|leaving)(?: now| for today)?|gotta go|until next time|see you (?:later|soon|tomorrow|then|monday)",
    ),
    Talk.HELP: (
        rf"(?:(?:can|could) you )?help(?: me)?(?: out)?(?: please)?|i need (?:some )?help|(?:so )?what (?:can|do|could) (?:you|i) (?:act\w+ |really |even )?(?:do|help|offer|know|ask|answer|know how to do){_MORE}|what are you (?:able to do|capable of|good (?:at|for)){_MORE}",
        r"how (?:can|could|do) (?:you|i) (?:help|use|talk to) ?(?:you|this|me)?(?: out)?|what are your (?:skills|abilities|capabilities|tools|features)",
        r"(?:list|show|tell)(?: me)?(?: about)? (?:your (?:skills|tools|abilities|capabilities)|yourself)|introduce yourself",
        r"(?:who|what) (?:exactly )?are you(?: exactly| really| actually| anyway)?|who (?:made|built|wrote|created|developed) you|what is this(?: thing| service| tool)?|what(?:'s| is) your name|do you have a name",
        r"what tools do you have|what (?:kind|sort)s? of (?:questions|things) can .*|are you (?:(?:really|actually|just|some kind of|an?|the) )*(?:\w+ )?(?:human|person|robot|bot|machine|computer|chatgpt|gpt|ai|model|real|sentient)(?: or .{1,40})?",
        r".*\b(?:who|what|whom)\b.{0,20}\bam i (?:talking|speaking|chatting|writing)\b.*|who(?:'s| is) there|(?:a|an) (?:\w+ )?(?:person|human|machine|robot|bot|computer)(?: or .*)?",
        r"am i (?:talking|speaking|chatting) (?:to|with) .*",
    ),
}
_KINDS = tuple(
    (talk, pattern(rf"(?:(?:and|so|well|oh|ok|okay|hey|hi|just|now|but|lol|haha) )*(?:{'|'.join(forms)})(?: then| now| please| exactly| ok| okay)?"))
    for talk, forms in _PHRASES.items()
)  # fmt: skip
_THANKED = pattern(
    rf"\W*{_PHRASES[Talk.THANKS][0]}\W+(?:that|this|it|you|works?|worked)(?:'s| is| was|'ve| have)?\b(?:(?!\b(?:but|and|now|what|how|why|where|which|who|can|could|show|list|find|get|tell)\b)[^?/#])*"
)
"""Thanks with what they are for: "thanks mate, that saved my afternoon"."""
_ASIDE = pattern(
    r"(?:roughly|briefly|basically|actually|exactly|anyway|please|then|really|in (?:short|brief|general|a nutshell|(?:a few|one or two|plain) (?:words|sentences)))"
)
"""Says nothing of its own beside another phrase."""
_CUT = re.compile(r"[\s]*[,.!?;:\n\u2026()]+\s*|\s[-\u2013\u2014]+\s")
_NOT_SAID = re.compile(r"[^\w\s',.!?;:()\u2026\u2013\u2014-]+")
_PRELUDE = pattern(
    r"^\s*(?:(?:thanks?(?: you)?(?: a lot| so much| very much)?|thx|cheers|hello|hi|hey|good (?:morning|afternoon|evening)|great|perfect|ok|okay|nice|cool)"
    r"(?:\s+(?:there|team|again|all|everyone))?\s*(?:[,!.;]+|\s-+)\s+)+(?=\w)"
)


def small_talk(text: str) -> Talk | None:
    """The kind of small talk that the whole text is, phrase by phrase; `None` for anything else."""
    plain = _NOT_SAID.sub(" ", text.replace("\u2019", "'"))
    if len(plain.split()) > LONGEST:
        return None
    phrases = [" ".join(each.split()) for each in _CUT.split(plain) if each.strip()]
    phrases = [each for each in phrases if not _ASIDE.fullmatch(each)] or phrases
    if _THANKED.fullmatch(plain):
        return Talk.THANKS
    kinds = {next((talk for talk, form in _KINDS if form.fullmatch(each)), None) for each in phrases}
    return None if None in kinds else next((talk for talk in Talk if talk in kinds), None)


def without_prelude(text: str) -> str:
    """A request without the greeting or thanks before it."""
    return _PRELUDE.sub("", text)
