"""What can be said of a result without a judge. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from tests.eval.blind.question import Reply, Result

_FREE_TEXT = ("query", "request", "question", "title", "body", "source")
_ARGUMENT = re.compile(rf"\b({'|'.join(_FREE_TEXT)})=(\"(?:[^\"\\]|\\.)*\")")
_PRETENDED = re.compile(
    r"\b(?:I (?:have )?(?:created|opened|closed|merged|deleted|assigned|commented|updated)"
    r"|(?:has|have) been (?:created|opened|closed|merged|deleted|assigned|updated))\b",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^\W*(?:(?:hi|hello|hey|hallo|good (?:morning|afternoon|evening)|thanks?(?: you)?(?: a lot| so much)?|thx|cheers|great|ok(?:ay)?|cool|nice|perfect)"
    r"(?: there| team| all| again)?\s*(?:[,!.;]+|\s-+)\s+)+",
    re.IGNORECASE,
)
_WAITING = "input-required"


def verdicts(result: Result) -> dict[str, bool]:
    """Each check that applies to a result, and whether it passed."""
    asked, last = result.question, result.last
    found = {
        "agent": asked.agent == "any" or agents_of(last) == wanted_agents(asked.agent),
        "verbatim": not (altered(result) or dropped(result)),
        "nothing_pretended": not pretends(result),
    }
    keys = asked.keys
    if "page" in keys:
        found["page"] = any(str(keys["page"]) in source for source in last.sources)
    if "tool" in keys:
        found["tool"] = any(call.tool == keys["tool"] for call in last.calls)
    if "mentions" in keys:
        found["mentions"] = all(word.lower() in last.answer.lower() for word in _listed(keys["mentions"]))
    if "avoids" in keys:
        found["avoids"] = not any(word.lower() in last.answer.lower() for word in _listed(keys["avoids"]))
    if "state" in keys:
        found["state"] = last.state == keys["state"]
    return found


def agents_of(reply: Reply) -> frozenset[str]:
    """The agents that were asked."""
    return frozenset(name for name, _ in reply.agents)


def wanted_agents(key: str) -> frozenset[str]:
    """The agents of a key: `rag`, `github`, `both` or `none`."""
    return {"both": frozenset({"rag", "github"}), "none": frozenset[str]()}.get(key, frozenset({key}))


def altered(result: Result) -> list[str]:
    """Free text in arguments that no turn of the user has in it, spaces aside."""
    said = [_plain(reply.said) for reply in result.replies]
    texts = [text for reply in result.replies for text in _free_texts(reply)]
    whole = _plain(" ".join(reply.said for reply in result.replies))
    return [
        text for text in texts if not any(_plain(text) in each for each in [*said, " ".join(said), whole])
    ]


def dropped(result: Result) -> list[str]:
    """Messages that went to one agent without all of their words; a greeting before them may be missing."""
    alone = [reply for reply in result.replies if len(reply.agents) == 1]
    return [
        reply.said
        for reply in alone
        if _plain(_GREETING.sub("", reply.said)) not in _plain(reply.agents[0][1])
    ]


def pretends(result: Result) -> bool:
    """Whether an answer to a request for a change says that it was made."""
    return result.question.kind == "change" and bool(_PRETENDED.search(result.last.answer))


def summary(results: Sequence[Result]) -> str:
    """A line for each kind, and the counts that have to be zero."""
    kinds = dict.fromkeys(result.question.kind for result in results)
    lines = [_line(kind, [r for r in results if r.question.kind == kind]) for kind in kinds]
    lines.append(_line("all", results))
    words = sum(bool(altered(result) or dropped(result)) for result in results)
    changes = sum(pretends(result) for result in results)
    return "\n".join([*lines, f"altered words {words} · changes pretended {changes}"])


def _line(kind: str, results: Sequence[Result]) -> str:
    checked = [verdicts(result) for result in results]
    names = dict.fromkeys(
        name for each in checked for name in each if name not in {"verbatim", "nothing_pretended"}
    )
    shares = [_share(name, [each[name] for each in checked if name in each]) for name in names]
    waiting = sum(result.last.state == _WAITING for result in results)
    return " · ".join([f"{kind:10} {len(results)}", *shares, f"asked back {waiting}"])


def _share(name: str, passed: Sequence[bool]) -> str:
    return f"{name} {sum(passed)}/{len(passed)}"


def _free_texts(reply: Reply) -> Iterable[str]:
    yield from (text for _, text in reply.agents)
    for call in reply.calls:
        yield from (json.loads(value) for _, value in _ARGUMENT.findall(call.arguments))


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(" .?!…").lower()


def _listed(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]
