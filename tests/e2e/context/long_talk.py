"""Conversations of sixty turns in five languages, on a real agent and client, against the strict provider's double.

    python -m tests.e2e.context.long_talk

Prints, for each language, window and way of finding constraints, what `measure` returns.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import structlog

from tests.e2e.agents.peers import ask, connected
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.tools.agent_tool import agent_tool
from utils.testing.live_agent import running_agent
from utils.testing.strict_provider import Call, ChatRequest, Reply, StrictProvider, run_strict_provider

TURNS = 60
MOST_AWAITED = 3
SHARES = {8_000: 0.85, 32_000: 0.95}
"""Least share of the unchanged beginning, by window."""


@dataclass(frozen=True)
class Script:
    """What a user says in one language.

    Attributes:
        rule: The standing constraint, in the first turn.
        fact: What is said in turn 3.
        value: The part of the fact that the last answer needs.
        asks: The question about it in the last turn.
        talk: Any other turn; `{}` is its number.
        answer: What the model says.
    """

    rule: str
    fact: str
    value: str
    asks: str
    talk: str
    answer: str


SCRIPTS = {
    "en": Script(
        "Never restart the payments service.",
        "By the way, the backup of the orders database lies in the bucket kestrel-41.",
        "kestrel-41",
        "In which bucket lies the backup of the orders database?",
        "Look at deployment number {} of the shop and tell me how long it took and what changed in its configuration.",
        "Deployment {} took four minutes; the number of replicas and the memory limit of the shop were changed. "
        * 3,
    ),
    "de": Script(
        "Starte den Zahlungsdienst niemals neu.",
        "Übrigens liegt die Sicherung der Bestelldatenbank im Bucket kestrel-41.",
        "kestrel-41",
        "In welchem Bucket liegt die Sicherung der Bestelldatenbank?",
        "Sieh dir die Auslieferung Nummer {} des Shops an und sage mir, wie lange sie gedauert hat und was sich änderte.",
        "Auslieferung {} dauerte vier Minuten; die Zahl der Replikate und die Speichergrenze des Shops wurden geändert. "
        * 3,
    ),
    "es": Script(
        "Nunca reinicies el servicio de pagos.",
        "Por cierto, la copia de la base de datos de pedidos está en el bucket kestrel-41.",
        "kestrel-41",
        "¿En qué bucket está la copia de la base de datos de pedidos?",
        "Mira el despliegue número {} de la tienda y dime cuánto tardó y qué cambió en su configuración.",
        "El despliegue {} tardó cuatro minutos; cambiaron el número de réplicas y el límite de memoria de la tienda. "
        * 3,
    ),
    "zh": Script(
        "不要重启支付服务。",
        "顺便说一下，订单数据库的备份放在存储桶红隼四十一号里。",
        "红隼四十一号",
        "订单数据库的备份放在哪个存储桶里？",
        "看一下商店的第{}次部署，告诉我用了多长时间，配置里改了什么内容。",
        "第{}次部署用了四分钟；商店的副本数量和内存限制有改动，其他配置保持原样，没有发现异常情况。" * 4,
    ),
    "ja": Script(
        "決済サービスを再起動しないでください。",
        "ちなみに、注文データベースのバックアップはバケット隼四十一号にあります。",
        "隼四十一号",
        "注文データベースのバックアップはどのバケットにありますか？",
        "ショップのデプロイ{}番を見て、かかった時間と設定の変更点を教えてください。",
        "デプロイ{}番は四分かかりました。ショップのレプリカ数とメモリ上限が変更され、ほかの設定はそのままです。"
        * 4,
    ),
}


class Operator(BaseLangGraphAgent):
    """An agent with one tool, whose results are long."""

    name = "operator"
    description = "Looks at deployments."

    @agent_tool(examples=["Look at a deployment."])
    async def deployment(self, number: int) -> str:
        """Read the record of a deployment.

        Args:
            number: Its number.
        """
        return f"deployment {number}: " + "step ok, replica ready, memory limit 512Mi, probe passed; " * 12


class Model:
    """A model that works as a tool-calling one does, and writes the summary and the quotes that it is asked for."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.busy = False
        self.awaited = 0
        self.turn = 0

    def __call__(self, request: ChatRequest) -> Reply:
        """The next reply."""
        last = request.messages[-1]
        if "Write the summary alone" in last.text or "Write the shortened text alone" in last.text:
            self.awaited += self.busy
            return Reply("The user looked at several deployments of the shop; each took four minutes. " * 4)
        if "<message>" in last.text:
            self.awaited += self.busy
            quotes = [self.script.rule] if self.script.rule in last.text else []
            return Reply(json.dumps({"quotes": quotes}, ensure_ascii=False))
        reply = self._answer(request)
        self.busy = self.busy and bool(reply.calls)
        return reply

    def _answer(self, request: ChatRequest) -> Reply:
        text, names = request.last_user_text, {tool.name for tool in request.tools}
        said, last = "\n".join(each.text for each in request.messages), request.messages[-1]
        if text == self.script.asks:
            if self.script.value in said:
                return Reply(self.script.value)
            searched = last.role == "tool"
            can = "recall" in names and not searched
            return Reply("", [Call("recall1", "recall", {"query": text})]) if can else Reply("?")
        if self.turn % 3 == 0 and last.role == "user":
            return Reply("", [Call(f"c{self.turn}", "deployment", {"number": self.turn})])
        return Reply(self.script.answer.format(*[self.turn] * 4))


@dataclass(frozen=True)
class Measured:
    """What a conversation did.

    Attributes:
        requests: Requests for an answer. Those for a summary or for constraints are not among them.
        refused: Requests that the double refused.
        largest: Tokens of the largest request.
        prefix_share: Share of the messages' characters that the request before had too, in the same place.
        awaited: Model calls that the user waited for, besides those that answer.
        summaries: Model calls besides those that answer.
        with_rule: Requests for an answer whose system message holds the constraint.
        completed: Turns that were completed.
        answered: Whether the last answer holds the fact of turn 3.
    """

    requests: int
    refused: int
    largest: int
    prefix_share: float
    awaited: int
    summaries: int
    with_rule: int
    completed: int
    answered: bool


@asynccontextmanager
async def served(double: StrictProvider, window: int, *, pins: bool) -> AsyncIterator[tuple[str, list[Any]]]:
    """The agent's address, and the agents that were made."""
    made: list[Any] = []

    class Kept(Operator):
        def __init__(self, runtime: Any) -> None:
            super().__init__(runtime)
            made.append(self)

    environ = double.environment("openai") | {
        "MAX_CONTEXT_TOKENS": str(window),
        "CONTEXT_PINS_BY_MODEL": str(pins).lower(),
    }
    async with running_agent(Kept, environ=environ) as url:
        yield url, made


async def measure(language: str, window: int, *, pins: bool, turns: int = TURNS) -> Measured:
    """One conversation."""
    script = SCRIPTS[language]
    model = Model(script)
    with run_strict_provider(model, window=window) as double:
        async with served(double, window, pins=pins) as (url, made), connected(url) as client:
            context, completed, last = "", 0, ""
            for turn in range(1, turns + 1):
                model.turn, model.busy = turn, True
                answer = await ask(client, said(script, turn, turns), context_id=context)
                context, last = answer.context_id, answer.text
                completed += answer.state == "completed"
                await asyncio.gather(*(task for agent in made for task in agent._after._tasks))
        own = [r for r in double.requests if "deployment" in {tool.name for tool in r.tools}]
        bodies = [_parts(request) for request in own]
        shares = [_shared(old, new) for old, new in pairwise(bodies)]
        return Measured(
            requests=len(own),
            refused=len(double.rejections),
            largest=max(request.tokens for request in double.requests),
            prefix_share=sum(same for same, _ in shares) / sum(whole for _, whole in shares),
            awaited=model.awaited,
            summaries=len(double.requests) - len(own),
            with_rule=sum(script.rule in request.messages[0].text for request in own),
            completed=completed,
            answered=script.value in last,
        )


def wrong(found: Measured, share: float, turns: int = TURNS) -> list[str]:
    """What is not as it must be, in words.

    Args:
        found: What a conversation did.
        share: Least share of the unchanged beginning.
        turns: Its turns.
    """
    rules = {
        f"{found.refused} requests were refused": found.refused == 0,
        f"{found.completed} of {turns} turns were completed": found.completed == turns,
        f"{found.with_rule} of {found.requests} requests held the constraint": found.with_rule
        == found.requests,
        "the fact of turn 3 was lost": found.answered,
        f"{found.awaited} model calls were waited for": found.awaited <= MOST_AWAITED,
        f"{100 * found.prefix_share:.1f} % is an unchanged beginning": found.prefix_share >= share,
    }
    return [sentence for sentence, holds in rules.items() if not holds]


def said(script: Script, turn: int, turns: int) -> str:
    """What the user says in a turn."""
    if turn == 1:
        return f"{script.rule} {script.talk.format(turn)}"
    if turn == 3:
        return script.fact
    return script.asks if turn == turns else script.talk.format(turn)


def _parts(request: ChatRequest) -> str:
    tools = [tool.name for tool in request.tools]
    return json.dumps(
        [tools, *([each.role, each.text, each.notes] for each in request.messages)], ensure_ascii=False
    )


def _shared(old: str, new: str) -> tuple[int, int]:
    """Characters of the common beginning of two requests, and of the second one."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(old), len(new))), len(new)


def main() -> None:
    """Print every measurement.

    Raises:
        SystemExit: One of them is not as it must be.
    """
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    bad = 0
    for window, share in SHARES.items():
        for language in SCRIPTS:
            for pins in (True, False):
                found = asyncio.run(measure(language, window, pins=pins))
                faults = wrong(found, share)
                bad += bool(faults)
                print(f"{language} {window} pins by model {pins}: {found}", *faults, sep="\n  ", flush=True)
    raise SystemExit(f"{bad} conversations are not as they must be" if bad else 0)


if __name__ == "__main__":
    main()
