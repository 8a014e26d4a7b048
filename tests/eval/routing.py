"""`python -m tests.eval.routing`: how well the offline model routes, fills arguments and quotes its sources.

Prints a figure per split. `--failures tune` lists what went wrong there; the held-out split is for reporting only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage

from tests.eval import routing_data
from tests.eval.routing_tools import tools_of
from utils.embeddings import create_embedder
from utils.llm.embedded import EmbeddedChatModel
from utils.settings import EmbeddingSettings

SPLITS = ("tune", "held-out")


@dataclass(frozen=True)
class Outcome:
    """What came of one case."""

    id: str
    split: str
    routed: bool
    arguments: bool | None
    detail: str


def model(*, lexical: bool = False, cache: Path | None = None) -> EmbeddedChatModel:
    """The model under test, with the dataset's clock."""
    embedder = None if lexical else create_embedder(EmbeddingSettings.load({}), cache=cache)
    return EmbeddedChatModel(embedder, now=routing_data.clock)


def routing_outcomes(
    chat: EmbeddedChatModel, split: str | None = None, *, written: bool = False
) -> list[Outcome]:
    """Every case of a split, with the agents' own tools or with those that the dataset was written against."""
    cases = [case for case in routing_data.dataset()["cases"] if split in (None, case["split"])]
    return [_routed(chat, case, written) for case in cases]


def answer_outcomes(chat: EmbeddedChatModel, split: str | None = None) -> list[Outcome]:
    cases = [case for case in routing_data.dataset()["answers"] if split in (None, case["split"])]
    return [_answered(chat, case) for case in cases]


def share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 1.0


def _routed(chat: EmbeddedChatModel, case: Mapping[str, Any], written: bool) -> Outcome:
    answer = chat.bind_tools(tools_of(case["agent"], written=written)).invoke(routing_data.messages_of(case))
    wanted = case.get("calls", [])
    got = [(call["name"], _plain(call["args"])) for call in answer.tool_calls]
    routed = sorted(name for name, _ in got) == sorted(call["tool"] for call in wanted)
    routed = routed and (not case.get("asks") or answer.text.rstrip().endswith("?") or "?" in answer.text)
    correct = _arguments_match(wanted, got) if routed and wanted else None
    return Outcome(
        case["id"], case["split"], routed, correct, f"{case['request']!r} -> {got or answer.text[:80]!r}"
    )


def _arguments_match(
    wanted: Sequence[Mapping[str, Any]], got: Sequence[tuple[str, Mapping[str, Any]]]
) -> bool:
    left = list(got)
    for call in wanted:
        fitting = next((g for g in left if g[0] == call["tool"] and _fits(call["args"], g[1])), None)
        if fitting is None:
            return False
        left.remove(fitting)
    return True


def _fits(wanted: Mapping[str, Any], got: Mapping[str, Any]) -> bool:
    return all(_same(value, got.get(name)) for name, value in _plain(wanted).items())


def _same(wanted: Any, got: Any) -> bool:
    if isinstance(wanted, str) and wanted.startswith("~"):
        return wanted[1:].lower() in str(got).lower()
    if isinstance(got, list):
        got = ",".join(map(str, got))
    return bool(wanted == got)


def _plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments under one name for each thing, whatever the tool calls it."""
    same = {
        "pull_number": "number",
        "issue_number": "number",
        "repository": "repo",
        "sha": "branch",
        "ref": "branch",
    }
    plain = {same.get(name, name): value for name, value in arguments.items()}
    if "repo" in plain and "owner" in plain:
        plain["repo"] = f"{plain['owner']}/{plain['repo']}"
    return plain


def _answered(chat: EmbeddedChatModel, case: Mapping[str, Any]) -> Outcome:
    answer = chat.bind_tools(tools_of(case["agent"])).invoke(routing_data.answered_messages(case))
    assert isinstance(answer, AIMessage)
    text = answer.text
    absent = [part for part in case["contains"] if part.lower() not in text.lower()]
    invented = [part for part in case["lacks"] if part in text]
    good = not absent and not invented and not answer.tool_calls
    return Outcome(case["id"], case["split"], good, None, f"absent {absent}, unwanted {invented}\n{text}")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--failures", choices=SPLITS)
    parser.add_argument("--lexical", action="store_true", help="without embeddings")
    parser.add_argument("--written", action="store_true", help="with the tools that stand in the dataset")
    options = parser.parse_args(arguments)
    chat = model(lexical=options.lexical)
    for split in SPLITS:
        routed, answered = (
            routing_outcomes(chat, split, written=options.written),
            answer_outcomes(chat, split),
        )
        filled = [outcome.arguments for outcome in routed if outcome.arguments is not None]
        print(
            f"{split:9} routing {share([o.routed for o in routed]):.3f} of {len(routed)}"
            f" · arguments {share(filled):.3f} of {len(filled)}"
            f" · answer contains source {share([o.routed for o in answered]):.3f} of {len(answered)}"
        )
        if options.failures == split:
            for outcome in (*routed, *answered):
                if not outcome.routed or outcome.arguments is False:
                    print(f"  {outcome.id} {'arguments' if outcome.routed else 'routing'}: {outcome.detail}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
