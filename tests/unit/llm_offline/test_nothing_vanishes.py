"""No part of a request is lost: each group of words is given to a tool, stands in the answer, or is named as not done."""

import re
from pathlib import Path

import pytest
import yaml
from langchain_core.messages import HumanMessage, ToolMessage

from tests.eval import routing
from tests.eval.routing_tools import tools_of
from utils.llm.offline.smalltalk import small_talk
from utils.llm.offline.words import content_stems
from utils.messages.results import Articles, Items, Record, dump_result

SETS = sorted((Path(__file__).parents[2] / "eval" / "sets").glob("set[1-5].yaml"))  # set 6 measures
MORE = (
    "Which of our docs pages explains backups, and while you're at it: any open PRs by hubot in acme/rocket?",
    "does acme/rocket have more commits or more branches?",
    "order pizza and list the open issues in acme/rocket",
    "tell me a joke, then the last release of acme/rocket",
    "show open PRs of acme/rocket with their age, reviewers, and CI state",
    "Show the releases and sponsors of acme/rocket",
    "List the issues, releases and milestones of acme/rocket",
    "Get the last release of acme/rocket and translate its notes into German",
    "list open issues in acme/rocket and send them to bob by mail",
    "give me the branches of acme/rocket and the moon phase",
    "What changed last in acme/rocket, and can this tool send its logs somewhere?",
    "list branches of acme/rocket, also what does the offline model do with its memory",
    "who wrote issue 4 of acme/rocket and what is his phone number",
    "any draft PRs in acme/rocket? if yes who wrote them, if no how do I make the bot watch for them",
    "commits of acme/rocket, then a poem about them. Also, how do I upgrade?",
)
GROUP = re.compile(r"[,;:.?!()\n]+(?=\s|$)|\s[-–—]+\s|\b(?:and|or|but|plus|then|also|so|because|if|with)\b")
REMARK = re.compile(
    r"^\W*(?:(?:i|it|we|they)\b(?!.*\?)|(?:just )?(?:two|three|a few) things\b|go ahead\b|while you|issues only|newest \w+ will do)",
    re.IGNORECASE,
)
"""What tells and does not ask."""
SHOWN = "author wrote opened who date when state open closed order oldest newest first draft excluded no PRs"
"""What lists and records show, and what arguments say in other words."""
FEWEST = 2
"""Words with a meaning of a group: "in which step, and when" has groups that mean nothing alone."""


def _requests():
    for path in SETS:
        marks = [] if path == SETS[-1] else [pytest.mark.long]  # more of the same
        for entry in yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader):
            if "question" in entry and entry["kind"] not in {"outside", "smalltalk", "language"}:
                yield pytest.param(entry["question"], id=entry["id"], marks=marks)
    yield from MORE


@pytest.fixture(scope="module")
def models():
    chat = routing.model()
    return {name: chat.bind_tools(tools_of(name)) for name in ("supervisor", "github", "rag")}


@pytest.mark.slow
@pytest.mark.parametrize("said", list(_requests()))
def test_no_group_of_words_of_a_request_vanishes(models, said):
    heard = _heard(models, "supervisor", said)
    lost = [
        group for group in GROUP.split(said) if len(_stems(group)) >= FEWEST and not _stems(group) & heard
    ]
    assert lost == []


def _stems(text):
    if small_talk(text) or REMARK.match(text):
        return set()
    return {stem for stem in content_stems(text) if not stem.isdigit()}


def _heard(models, agent, said):
    """Stems of what tools get and say of themselves, and of the answer."""
    asked, results = HumanMessage(said), []
    reply = models[agent].invoke([asked])
    heard = _stems(SHOWN) if agent == "github" else set()
    for call in reply.tool_calls:
        if agent == "supervisor":
            heard |= _heard(models, call["name"], call["args"]["request"])
        else:
            spec = next(tool for tool in tools_of(agent) if tool.name == call["name"])
            examples = (spec.metadata or {})["examples"]
            told = ["past two weeks"] if "since" in call["args"] else []
            told += [spec.description, *examples, *map(str, call["args"].values())]
            heard |= _stems(" ".join(told).replace("/", " "))
        results.append(ToolMessage(_result(call["name"]), tool_call_id=call["id"]))
    if not reply.tool_calls:
        declined = "“" not in reply.text and (
            "I cannot help with that." in reply.text or "do you mean" in reply.text
        )
        return _stems(said if declined else reply.text)
    answer = models[agent].invoke([asked, reply, *results])
    return heard | _stems(" ".join(re.findall("“([^”]*)”", answer.text)))


def _result(tool):
    if tool.startswith("search"):
        return dump_result(Articles(articles=[]))
    kind = tool.partition("_")[2].replace("_", " ")
    if tool.startswith("list"):
        return dump_result(Items(kind=kind, items=[{"number": 1}]))
    return dump_result(Record(kind=kind, item={"number": 1}))
