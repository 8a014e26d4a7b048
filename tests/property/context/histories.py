"""Generated conversations, from a seed: what may happen to a history, all of it, often together."""

import random
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from tests.property.context.media import some_media, some_thought
from tests.property.context.texts import articles, some_text

CONSTRAINTS = (
    "Never touch production.",
    "Always answer in metric units.",
    "My account id is ACME-48213.",
    "Please do not restart the payments service.",
    "I prefer short answers with links.",
    "Under no circumstances delete the audit bucket.",
    "You must not open pull requests without asking me.",
    "Our staging cluster is blue-7.",
    "不要部署到生产环境。",
    "本番環境には絶対に触らないでください。",
)


NAMES = ("Ada", "Ada Lovelace", "小明", "a/b", "<user>", "x" * 90, " ")


@dataclass
class History:
    """A conversation and the request around it."""

    messages: list[BaseMessage]
    system: SystemMessage | None
    tool_tokens: int
    window: int
    preset: str
    constraints: list[str] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)


def window_of(rng: random.Random, *, large: bool) -> int:
    """Log-uniform from 2k to 32k; for the large ones up to 1M."""
    low, high = (32_768, 1_000_000) if large else (2_048, 32_768)
    return int(low * (high / low) ** rng.random())


def history(seed: int, *, large: bool = False) -> History:
    """The conversation of a seed."""
    rng = random.Random(seed)
    window = window_of(rng, large=large)
    maker = _Maker(rng, window)
    turns = rng.choice((1, 1, 2, 3, 5, 8, 12))
    for turn in range(turns):
        maker.turn(last=turn == turns - 1)
    maker.spoil()
    system = (
        SystemMessage(some_text(rng, rng.randint(5, window // 16), "prose")) if rng.random() < 0.8 else None
    )
    whole = len(maker.messages)
    cuts = sorted({rng.randint(1, whole) for _ in range(rng.choice((0, 0, 0, 1, 2)))} - {whole})
    return History(
        messages=maker.messages,
        system=system,
        tool_tokens=rng.choice((0, 0, rng.randint(1, window // 8))),
        window=window,
        preset=rng.choice(
            ("standard", "standard", "standard", "caipe", "rag", "research", "pipelit", "turns")
        ),
        constraints=maker.constraints,
        cuts=[*cuts, whole],
    )


class _Maker:
    def __init__(self, rng: random.Random, window: int) -> None:
        self.rng = rng
        self.window = window
        self.messages: list[BaseMessage] = []
        self.constraints: list[str] = []
        self.calls = 0

    def turn(self, *, last: bool) -> None:
        rng = self.rng
        self.human()
        for _ in range(rng.choice((0, 0, 1, 1, 2, 4, 7))):
            self.tool_loop()
        if last and rng.random() < 0.5:
            self.tool_loop()
            return
        if not last or rng.random() < 0.1:
            self.messages.append(AIMessage(self.content(self.size()), id=self.id("a")))
        if last:
            self.human()

    def human(self) -> None:
        text = some_text(self.rng, self.size())
        if self.rng.random() < 0.3 and len(self.constraints) < 3:
            constraint = self.rng.choice(CONSTRAINTS)
            if constraint not in self.constraints:
                self.constraints.append(constraint)
            text = f"{constraint}\n{text}" if self.rng.random() < 0.5 else f"{text}\n{constraint}"
        content: Any = text
        form = self.rng.random()
        if form < 0.1:
            content = [{"type": "text", "text": text}]
        elif form < 0.15:
            content = [{"type": "text", "text": text}, {"type": "text", "text": " "}, "plain"]
        elif form < 0.23:
            content = [{"type": "text", "text": text}, *some_media(self.rng)]
        elif form < 0.24:
            content = self.rng.choice(("", "  ", [], [{"type": "text", "text": ""}]))
        name = self.rng.choice(NAMES) if self.rng.random() < 0.08 else None
        self.messages.append(HumanMessage(content, id=self.id("h"), name=name))

    def tool_loop(self) -> None:
        rng = self.rng
        count = rng.choice((1, 1, 1, 2, 3, 6, 6 if rng.random() < 0.9 else 30))
        calls = []
        for _ in range(count):
            self.calls += 1
            name = rng.choice(("search", "list_pull_requests", "get_log", "read_file"))
            args = {"query": some_text(rng, rng.randint(1, 12), "prose")}
            if rng.random() < 0.01:
                args["body"] = some_text(rng, self.size())
            calls.append({"name": name, "args": args, "id": f"call_{self.calls}"})
        answer = AIMessage(self.content(rng.randint(0, 60), calls), tool_calls=calls, id=self.id("a"))
        if rng.random() < 0.02:
            broken = {
                "name": "search",
                "args": "{oops",
                "id": "bad",
                "error": "",
                "type": "invalid_tool_call",
            }
            answer = answer.model_copy(update={"invalid_tool_calls": [broken]})
        self.messages.append(answer)
        for call in calls:
            self.messages.append(self.result(call))

    def result(self, call: dict[str, Any]) -> ToolMessage:
        rng = self.rng
        size = self.size()
        content: Any = articles(rng, size) if rng.random() < 0.15 else some_text(rng, size)
        if rng.random() < 0.1:
            content = [{"type": "text", "text": content}]
        elif rng.random() < 0.04:
            content = [{"type": "text", "text": content}, *some_media(rng)]
        elif rng.random() < 0.02:
            content = rng.choice(("", [], "\n"))
        return ToolMessage(content, tool_call_id=call["id"], name=call["name"], id=self.id("t"))

    def content(self, tokens: int, calls: list[dict[str, Any]] | None = None) -> Any:
        rng = self.rng
        text = some_text(rng, tokens) if tokens else ""
        form = rng.random()
        if form < 0.1:
            blocks: list[Any] = [{"type": "text", "text": text}]
            if rng.random() < 0.5:
                blocks.insert(0, some_thought(rng))
            blocks += [
                {"type": "tool_use", "id": c["id"], "name": c["name"], "input": c["args"]}
                for c in calls or ()
            ]
            if form < 0.02:
                blocks.append({"type": "tool_use", "id": "ghost", "name": "search", "input": {}})
            return blocks
        if form > 0.99:
            return [some_thought(rng)]
        return text

    def size(self) -> int:
        """Tokens of one message: mostly small, sometimes large, rarely ten times the window."""
        draw = self.rng.random()
        if draw < 0.004:
            return self.window * 10
        if draw < 0.06:
            return int(self.window * self.rng.uniform(0.2, 1.5))
        return int(self.rng.lognormvariate(3.6, 1.2)) + 1

    def id(self, kind: str) -> str | None:
        return None if self.rng.random() < 0.03 else f"{kind}{len(self.messages)}"

    def spoil(self) -> None:
        """Lose, double, shuffle and invent results; break off; put system messages in the middle."""
        rng = self.rng
        if rng.random() < 0.4:
            return
        kept: list[BaseMessage] = []
        for message in self.messages:
            if isinstance(message, ToolMessage):
                draw = rng.random()
                if draw < 0.05:
                    continue
                if draw < 0.08:
                    kept.append(message.model_copy(update={"id": f"double-{len(kept)}"}))
            kept.append(message)
            if rng.random() < 0.01:
                kept.append(ToolMessage("stray", tool_call_id="nobody", id=f"stray-{len(kept)}"))
            if rng.random() < 0.01:
                kept.append(SystemMessage("Remember the weather.", id=f"s-{len(kept)}"))
        for _ in range(rng.choice((0, 0, 1, 3))):
            places = [i for i, m in enumerate(kept) if isinstance(m, ToolMessage)]
            if len(places) > 1:
                i, j = rng.sample(places, 2)
                kept[i], kept[j] = kept[j], kept[i]
        if rng.random() < 0.1 and kept:
            kept = kept[rng.randrange(len(kept)) :]
            heard = "\n".join(str(m.content) for m in kept if isinstance(m, HumanMessage))
            self.constraints = [c for c in self.constraints if c in heard]
        if rng.random() < 0.3:
            ends = [i for i, m in enumerate(kept) if isinstance(m, AIMessage) and m.tool_calls]
            if ends:
                kept = kept[: ends[-1] + 1 + rng.randint(0, 2)]
                heard = "\n".join(str(m.content) for m in kept if isinstance(m, HumanMessage))
                self.constraints = [c for c in self.constraints if c in heard]
        self.messages = kept
