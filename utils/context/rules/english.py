"""Standing rules in English. Pure."""

from __future__ import annotations

import re

from utils.context.rules.language import VALUE, LanguageRules, patterns

_OPENING = (
    r"^\W*(?:\d+[.)]\s*)?(?:(?:and|but|also|so|please|pls|kindly|important|note|remember|reminder|rule(?: \d+)?|ps|btw|"
    r"by the way|one more thing|another thing|fyi|ok|okay|hi|hello|hey|thanks|first|second|secondly|finally|just|"
    r"as a rule|in general|generally|again|oh|well)\b[\s:,;.!-]*)*"
)
_OWNED = (
    r"(?:id|name|email|e-mail|account|team|username|user|time ?zone|repo|repository|cluster|namespace|project|"
    r"environment|region|tenant|budget|deadline|branch|number|registry|domain|channel|address|database|server)"
)
_ANSWERS = r"(?:answers?|repl(?:y|ies)|responses?)"
_STYLED = (
    rf"(?:{_ANSWERS}|dates?|times?|timestamps?|numbers?|amounts?|prices?|costs?|output|code|examples?|commit messages)"
    r"(?= (?:in (?!\S+/\S)|as|with|to|short|brief|kept|always|formatted|written)|\W*$)"
)
_WORKS = (
    r"(?:deploy|merge|push|release|ship|use|commit|touch|restart|change|delete|run|store|write|publish|share|work|"
    r"support|allow|roll|force|log|expose|upgrade|patch|rebase|accept|send|speak|tag)"
)

_STATES = (
    r"^^(?:never|always)(?: ever)? (?!mind\b|been\b|seen\b|heard\b|had\b|have\b|thought\b|knew\b|got\b|again\b|a\b|an\b|"
    r"the\b|some\b|this\b|that\b|there\b|happy|glad|good|nice|great|welcome|fails?\b|works\b|happens\b|in time|too\b)\w+",
    r"^^(?:do not|don'?t|don’t) (?:ever )?(?!worry|mind\b|bother|hesitate|forget(?! that)|know\b|think\b|panic|be\b|"
    r"get me wrong|sweat|care\b|you\b|we\b|they\b|i\b|understand|believe|remember|see\b|have\b|let me|tell me|give up|"
    r"wait\b|thank|rush|stress|say that|take it|feel\b|look\b|stop\b|ask me (?:how|why|what)|need\b|want\b)\w+",
    r"^^(?:avoid|refrain from|stay away from|stay out of|keep away from|hands off|stick to|stick with)\b",
    r"^^stop (?:using|adding|sending|writing|asking|including|making|giving|suggesting|calling|answering|opening)\b",
    r"\b(?:under no circumstances|at no time|on no account|in no case|no matter what)\b",
    r"\b(?:from now on|from here on|going forward|in (?:the )?future,|henceforth|for the rest of (?:this|the|our)|throughout "
    r"(?:this|our)|until (?:i|we) (?:say|tell you) |at all times|without exception|as of (?:today|now)|from today on)",
    r"^^(?:in (?:this|our) (?:conversation|chat|session|thread)|every time you|each time you|whenever you|any ?time you|"
    r"whenever i)\b",
    rf"\b(?:in )?(?:all|every|each|any)(?: of)?(?: (?:your|the|future))* {_ANSWERS}\b(?! (?:was|were|is wrong|are wrong))",
    r"\byou (?:must|should|shall|may|can|are to|have to|need to)(?: (?:only|never|always|ever|not)\b|n'?t\b)(?! be\b)",
    r"\byou (?:must|have to|need to|shall) (?:ask|check|use|answer|get|confirm|wait|keep|stay|work|tell|inform)\b",
    r"\byou (?:can't|cannot|mustn't|shouldn't|aren't allowed to|are not allowed to|may not) (?:touch|delete|change|push|"
    r"merge|deploy|restart|use|modify|write|open|close|access|edit|remove|run|send|share|create)\b",
    r"\b(?:must|shall)(?: (?:never|not|always|only)\b|n'?t\b)(?! have| be (?:a|the) )",
    r"\bmay (?:never|only)\b|\bmay not be \w+(?:ed|en|t)\b|\bshould (?:never|always|only)\b|\bshould not be \w+(?:ed|en)\b",
    r"\b(?:must|ha(?:s|ve) to|needs? to) be (?:approved|reviewed|signed|confirmed|tagged|written|in|at|below|under|formatted)",
    r"\b(?:is|are|stays?|remains?) (?:strictly |absolutely |always )?(?:forbidden|prohibited|off[- ]limits|not allowed|taboo|"
    r"banned|a no-go|out of bounds|not permitted|mandatory|read[- ]only|confidential|not to be)\b",
    r"^^no (?!problem|idea|rush|luck|worries|need|answer|reply|news|errors?\b|wonder|doubt|thanks|one\b|way\b|sign|trace|"
    r"results?|changes? (?:since|so|yet)|such)(?:[\w'-]+ ){1,4}(?:without|unless|until|after|before|during|outside|ever\b|"
    r"please\b|on (?:mon|tues|wednes|thurs|fri|satur|sun|week)|to (?:main|master|prod)|in (?:your|my|any|prod))",
    r"^^no (?!problem|idea|rush|luck|worries|need|thanks|wonder|doubt)[\w' -]+(?:,)? (?:please|ever|allowed)\W*$",
    r"^(?!.*\b(?:somebody|someone|he|she|they|it was|were|got|who)\b).*\b(?:without (?:my|our|asking|checking with|telling|"
    r"explicit|prior|written)|unless i (?:say|ask|tell|approve|confirm|explicitly))\b",
    r"\b(?:ask|check with|warn|inform|consult|notify) (?:me|us|the team)(?: \w+){0,3}? (?:before|first|every time|whenever|prior)",
    r"\b(?:get|wait for|need|requires?) my (?:approval|ok\b|okay|permission|consent|confirmation|go-ahead|sign-off)",
    r"^^(?:before you|before \w+ing) .*\b(?:ask|check|confirm|wait for)\b",
    r"^^only (?:ever )?(?:use|work|read|touch|answer|reply|respond|change|deploy|write|speak|push|merge|consider|talk|"
    r"recommend|suggest|quote|cite|trust)\b",
    r"^^(?:use|answer|speak|write|work|reply|respond|deploy|push|talk) (?:[\w'-]+ ){0,4}(?:only|exclusively)\b",
    r"^^(?:remember|keep in mind|bear in mind|be aware|don'?t forget|make a note|take note|note)(?: that|:)(?! time)",
    r"^\W*(?:(?:hi|hello|hey)\W+)?(?:my name(?:'s| is)|i go by|i'm called|(?:please )?address me)\b",
    r"^^(?:please )?call me (?!back|when|if|later|tomorrow|crazy|at|once|in|today)\w",
    rf"\b(?:my|our) (?:[\w-]+ ){{0,3}}{_OWNED}(?: \w+)? (?:is|are|=)(?: called| named| in)? {VALUE}",
    rf"\b(?:my|our) (?:[\w-]+ ){{0,3}}{_OWNED}(?: \w+)? (?:is called|is named|ends on|closes on)\b",
    r"^^i (?:prefer|would rather|would prefer|'d rather|always want|never want|only want (?:answers|short|links|to see "
    r"(?:answers|links)))\b(?! (?:the )?(?:first|second|third|last|other|latter|former)\b)(?! not to say)",
    r"^^i(?:'d| would) prefer\b(?! the (?:first|second|third|last|other))",
    rf"^^i(?: want|'d like| would like) (?:(?:all|every)(?: of)?(?: (?:my|your|the))?|your|my) {_STYLED}",
    r"^^i(?: want|'d like| would like) you (?:not to|to (?:not|always|never|only|use|answer|keep|ask|speak|talk|reply|"
    r"respond|avoid|call me|be (?:brief|concise|formal|polite|precise|terse|careful)|write in))\b",
    r"^^i(?: want|'d like| would like) (?:no \w+ in|answers|short)",
    rf"^^i (?:need all|like) (?:my |your )?(?:{_ANSWERS}|dates|times|numbers|short|brief)",
    r"^^i (?:do not|don't) (?:ever )?want (?:you to|any|to see|emojis?|tables|to be)\b(?! any more of this)",
    r"^^(?:answer|reply|respond|write|speak|talk|explain)(?: to me| everything| me)?(?: only| always)* (?:in|with) "
    r"(?-i:[A-Z]\w+|plain|simple|bullet|one|two|three|short|a short|a table|tables|full|formal|at most|no more|\d+|"
    r"markdown|metric|british)",
    r"^^be (?:brief|concise|formal|polite|precise|terse)\b",
    rf"^^keep (?:(?:your|all|the|my) )?(?:{_ANSWERS}|messages|summaries|explanations|it|things|them)(?: \w+)? "
    r"(?:short|brief|concise|under|below|to|simple|formal|polite|in)\b",
    r"^^keep .*\b(?:secret|private|confidential|out of|untouched)\b",
    r"^^use (?:the )?(?:metric|british|american|celsius|iso\b|24|utc|formal|informal|plain|simple|bullet|markdown|euros?|"
    r"dollars|si units|tables|imperial|short|gender|snake|camel|my (?:first|last) name)",
    r"^^use [\w -]+ (?:for|in) (?:all|every|any|your|each)\b",
    r"^^(?:show|give|state|report|express|display|format|write|convert|put|quote)\b.*\b(?:dates?|times?|timestamps?|prices?|"
    r"amounts?|numbers?|costs?|temperatures?|distances?|sizes?|money) (?:always )?(?:in|as|with|to) (?:utc|iso|euros?|dollars|"
    r"usd|eur|celsius|metric|local time|cet|gmt|24|gb|mb)",
    r"^^(?:treat|consider|regard) .* as\b",
    r"^^leave .*\b(?:alone|untouched|as (?:it is|they are|is))\b",
    r"^^(?:make sure|be sure|ensure)(?: that)?(?: you| to)? (?:never|always|don't|do not|not to|nothing|no|nobody|every|all)\b",
    rf"^^we (?:never|always|only|don't|do not) (?:ever )?{_WORKS}\b",
    r"^^we \w+(?: \w+)? (?:only )?on \w+days?(?: only| exclusively)?\W*$",
    r"^^(?:nobody|no one|nothing) (?:may|should|must|is (?:allowed|to)|gets? (?:merged|deployed|deleted|changed|released|"
    r"restarted)|goes (?:to|into|live|out)|leaves|touches|deploys|pushes|merges)\b",
    r"\bonly (?:happen|run|take place|go (?:out|live)|be (?:deployed|merged|done|changed|restarted|used))\b",
)
_UNLESS = (
    r"\b(?:this time|for now|(?:just )?this once|tonight|right now|at the moment|not yet|for the moment|just now|so far)\b",
    r"\bfor this (?:one|answer|request|question|list|query|report|run|time)\b|\bin this (?:list|report|answer|case|one)\b",
    r"(?<!from )(?<!of )\btoday\b|\byesterday\b|\bthe ones? from\b",
    r"\b(?:error|log|logs|message|warning|docs?|documentation|readme|ticket|he|she|they|article|blog|page|boss|colleague|"
    r"linter|tests?|policy) (?:says?|said|reads?|states?|told|claims?|complains?|warns?|mentions?|wrote)\b",
    r"^\W*(?:why|what|how|when|where|who|which|show me|list|find|search|count|explain|summari[sz]e|tell me|look up|is|are|"
    r"does|did|grep|check whether|check if|see if)\b(?!.*\bfrom now on\b)(?! .*\b(?:always|never)\b .*\bplease\b)",
    r"\byou (?:must|can't|cannot) (?:be|mean|have|imagine|believe)\b|\balways (?:a pleasure|crash|fail|been|get this)",
    r"\b(?:it|this|that|everything|build|service|pipeline) (?:works|worked|is fixed|runs|should work|must have)\b",
    r"^\W*remember when\b|^\W*(?:i|we|it|he|she|they) (?:have |has |had )?(?:never|always) (?:\w+ed|got|saw|had|get|forget|fails?)\b",
)
_ASKS = (
    r"^^(?:can|could|would|will) you (?:please )?(?:always|never|only|from now on|not\b|stop \w+ing|make sure)",
    r"\bfrom now on\b",
)
_FORGET = re.compile(
    r"^(?:(?:please|ok|okay|now|so|then)\b,? )*"
    r"(?:forget|ignore|disregard|unpin) "
    r"(?P<whose>all(?: of)?(?: my| our| the)?|my|our|the|that|this) "
    r"(?:(?:earlier|previous|old|last|first|standing|pinned) )*(?:rule|constraint|restriction|prohibition)(?P<many>s?)"
    r"(?: (?:about|on|for|against|that|not to|never to|to) (?P<what>.+))?$",
    re.IGNORECASE,
)
_ALLOW = re.compile(
    r"^(?:(?:please|ok|okay|now|so|then)\b,? )*you (?:may|are allowed to) (?P<what>.+) again$", re.IGNORECASE
)

ENGLISH = LanguageRules(
    patterns(_OPENING, _STATES), patterns(_OPENING, _UNLESS), _FORGET, _ALLOW, patterns(_OPENING, _ASKS)
)
