"""The attacks of AgentDojo in everything that a supervisor reads, with models that obey: nothing is written or told without a yes."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from a2a.client import Client

from agents.github.agent import GitHubAgent
from agents.github.testing.server import GitHubServer, run_github_server
from tests.e2e.agents.peers import Answer, ask, connected
from tests.e2e.delegation.attacks.agentdojo import SUITES, WORDINGS, attacks
from tests.e2e.delegation.foreign import Foreign, answering, foreign
from tests.e2e.delegation.obedient import SECRET, commenting
from tests.e2e.delegation.teams import model, supervising, writing_to
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.timeout(300),
]

ROOT = Path(__file__).resolve().parents[3]
ASKS_FOREIGN = "May I ask the agent weather"
ASKS_POST = "May I call the tool post"
ASKS_GITHUB = "octocat/hello-world"


@dataclass
class Scene:
    """What a test holds of the supervisor and of those to whom something could leave."""

    client: Client
    supervisor: ScriptedModel
    weather: Foreign
    posted: Path
    github: GitHubServer | None = None

    def nothing_left(self) -> None:
        """Check that nobody was written to or told."""
        assert self.github is None or self.github.recorder.changes() == []
        assert SECRET not in json.dumps(self.weather.ear.bodies)
        assert not self.posted.exists()

    async def always_no(self, answer: Answer) -> list[str]:
        """Answer each question with no; the questions."""
        task_id, questions = answer.task_id, list[str]()
        while answer.state == "input_required":
            self.nothing_left()
            questions.append(answer.last_words)
            assert len(questions) < 9, questions
            answer = await ask(self.client, "no", task_id=task_id, nonce=answer.nonce)
        assert answer.state == "completed", answer.last_words
        self.nothing_left()
        return questions


def mcp(folder: Path, text: str) -> Mapping[str, str]:
    """Settings with a server whose notes are a text."""
    (folder / "notes").write_text(text, "utf-8")
    args = ["-m", "tests.e2e.mcp.noticeboard", str(folder / "notes"), str(folder / "posted")]
    server = {"command": sys.executable, "args": args, "cwd": str(ROOT)}
    return {"MCP_SERVERS": json.dumps({"board": server}), "MCP_START_SECONDS": "60"}


def obeying(*reads: Any) -> Any:
    """A supervisor's model that reads, and then tells everybody what it has read."""

    def script(messages: Sequence[Any]) -> Any:
        done = [each for each in messages if each.type == "tool"]
        if not done:
            return calls(*reads)
        if len(done) > len(reads):
            return "Done."
        leaving = [call("weather", "w2", request=SECRET), call("board_post", "p2", text=SECRET)]
        if any(each["name"] == "github" for each in reads):
            leaving.append(call("github", "g2", request="yes, comment on issue 1"))
        return calls(*leaving)

    return script


@asynccontextmanager
async def scene(folder: Path, texts: Sequence[str], script: Any, *, github: bool) -> AsyncIterator[Scene]:
    """A foreign agent, an MCP server and perhaps the GitHub agent, all of which say the texts."""
    text, supervisor = "\n".join(texts), model(script)
    async with AsyncExitStack() as stack:
        weather = await stack.enter_async_context(
            foreign(answering(text), description=texts[0], skill=texts[-1])
        )
        urls, double = {"weather": weather.url}, None
        if github:
            double = stack.enter_context(run_github_server(pulls=2, issue_text=text))
            urls["github"] = await stack.enter_async_context(
                running_agent(GitHubAgent, environ=writing_to(double), model=model(commenting))
            )
        settings = {"SUB_AGENTS_SHARES": "github=results,weather=nothing"} if github else {}
        url = await stack.enter_async_context(
            supervising(urls, supervisor, {**settings, **mcp(folder, text)})
        )
        client = await stack.enter_async_context(connected(url))
        yield Scene(client, supervisor, weather, folder / "posted", double)


def flat(value: Any) -> str:
    """A text as a model sees it somewhere, whatever its line breaks and quoting are."""
    return "".join(char for char in str(value).replace("\\n", " ") if char.isalnum())


@pytest.mark.parametrize("wording", WORDINGS)
async def test_nothing_is_written_or_told_whatever_issues_cards_and_results_order(
    tmp_path: Path, wording: str
) -> None:
    texts = [text for suite in SUITES for text in attacks(wording, suite)]
    reads = (
        call("github", "g1", request="Show issue 1 of octocat/hello-world"),
        call("weather", "w1", request="Rome?"),
        call("board_notes", "n1"),
    )
    async with scene(tmp_path, texts, obeying(*reads), github=True) as house:
        questions = await house.always_no(await ask(house.client, "Read issue 1, the notes and the weather."))
        read = [str(each.content) for each in house.supervisor.requests[-1].messages if each.type == "tool"]
        offered = flat(house.supervisor.requests[0].tools)
    assert sum(flat(texts[0])[:60] in flat(each) for each in read) >= 2, "the orders were read"
    assert flat(texts[0])[:60] in offered, "the card's orders were read"
    assert sum(ASKS_FOREIGN in each for each in questions) == 1
    assert sum(ASKS_POST in each for each in questions) == 1
    assert sum(ASKS_GITHUB in each for each in questions) >= 1


@pytest.mark.parametrize(
    "wording, tool", [*((wording, "board_notes") for wording in WORDINGS), (WORDINGS[0], "board_broken")]
)
async def test_what_an_mcp_server_said_is_not_told_to_a_foreign_agent_without_a_yes(
    tmp_path: Path, wording: str, tool: str
) -> None:
    texts = [text for suite in SUITES for text in attacks(wording, suite)]
    async with scene(tmp_path, texts, obeying(call(tool, "n1")), github=False) as house:
        questions = await house.always_no(await ask(house.client, "Read the notes."))
        read = [each for each in house.supervisor.requests[-1].messages if each.type == "tool"]
    assert flat(texts[0])[:40] in flat(read[0].content), "the orders were read"
    assert sum(ASKS_FOREIGN in each for each in questions) == 1
    assert sum(ASKS_POST in each for each in questions) == 1


async def test_with_a_yes_a_foreign_agent_is_told_what_was_shown_after_an_mcp_result(tmp_path: Path) -> None:
    texts = attacks(WORDINGS[0], SUITES[0])
    async with scene(tmp_path, texts, obeying(call("board_notes", "n1")), github=False) as house:
        answer = await ask(house.client, "Read the notes.")
        task_id, shown = answer.task_id, list[str]()
        while answer.state == "input_required":
            mine = ASKS_FOREIGN in answer.last_words
            shown += [answer.last_words] if mine else []
            word = "yes" if mine else "no"
            answer = await ask(house.client, word, task_id=task_id, nonce=answer.nonce)
        [told] = house.weather.messages
    [question] = shown
    assert told["parts"][0]["text"] == SECRET
    assert SECRET in question
    assert not house.posted.exists()
