"""Generated conversations through the pipeline and the real clients to the strict provider double.

    python -m benchmarks.fuzz_wire N=200 SEED=1

The double counts and checks for itself. The last line counts what it refused.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from dataclasses import replace
from typing import Any

from tests.property.context.histories import history
from tests.property.context.rules import TOOLS
from utils.context.pipeline import Parts, Request, prepare
from utils.context.policy import PRESETS
from utils.context.sending import without_foreign_blocks
from utils.errors import ContextBudgetExceeded
from utils.llm.factory import create_chat_model
from utils.messages.counter import MessageCounter
from utils.settings import LLMSettings
from utils.testing.strict_provider import Reply, StrictProvider, run_strict_provider

PROVIDERS = ("openai", "aws-bedrock")


def declared() -> list[dict[str, Any]]:
    """The tools of every request, as OpenAI takes them."""
    empty = {"type": "object", "properties": {}}
    return [
        {"type": "function", "function": {"name": name, "description": f"Does {name}.", "parameters": empty}}
        for name in TOOLS
    ]


async def send(double: StrictProvider, number: int, seed: int) -> Counter[str]:
    """Send each history, as it grows, over one provider's client; counts of what happened."""
    counts: Counter[str] = Counter()
    counter, tools = MessageCounter(), declared()
    models = {
        name: create_chat_model(
            LLMSettings.load({**double.environment(name), "LLM_MAX_RETRIES": "0"})
        ).bind_tools(tools)
        for name in PROVIDERS
    }
    for key in range(seed * 1_000_000_007, seed * 1_000_000_007 + number):
        case = replace(history(key), tool_tokens=counter.tools(tools))
        policy = PRESETS[case.preset](case.window)
        double.window = policy.window - policy.reserve
        compaction = None
        for cut in case.cuts:
            try:
                prepared = await prepare(
                    Request(case.messages[:cut], case.system, case.tool_tokens),
                    policy,
                    Parts(counter),
                    compaction,
                )
            except ContextBudgetExceeded:
                counts["did not fit"] += 1
                break
            compaction = prepared.compaction
            name = PROVIDERS[key % len(PROVIDERS)]
            refused = len(double.rejections)
            try:
                await models[name].ainvoke(without_foreign_blocks(prepared.all_messages(), name))
            except Exception as error:  # noqa: BLE001 - whatever a client raises is what is looked for
                counts["raised"] += 1
                print(f"history {key} at {name}: {str(error)[:200]}")
            counts["sent"] += 1
            counts["refused"] += len(double.rejections) - refused
    return counts


def main(arguments: list[str]) -> int:
    """Run and print the counts; 1 where anything was refused."""
    options = {"N": 200, "SEED": 1}
    options |= {name: int(value) for name, _, value in (text.partition("=") for text in arguments)}
    with run_strict_provider(lambda _request: Reply("Done.")) as double:
        counts = asyncio.run(send(double, options["N"], options["SEED"]))
    print(
        f"{options['N']:,} histories, {counts['sent']:,} requests sent, {counts['did not fit']:,} did not fit; "
        f"{counts['refused']} rejections, {counts['raised']} errors"
    )
    return 1 if counts["refused"] or counts["raised"] else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
