"""The agent as the service runs it: its graph, its tools' results, its start and its command."""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from agents.rag.agent import RagAgent
from agents.rag.index.embedded import EmbeddedIndex
from agents.rag.index.opening import INDEX_FILE
from agents.rag.index.store import Store
from agents.rag.ingest.names import REPOSITORY
from agents.rag.ingest_command import run_ingest
from agents.rag.settings import RagSettings
from agents.rag.startup import StartupIngestion
from tests.preloaded import process as preloaded
from tests.unit.rag.conftest import WordEmbedder
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import Completed, Failed
from utils.messages.results import Articles, Items, Record, ToolProblem, parse_result
from utils.testing.live_server import running
from utils.testing.scripted_model import ScriptedModel, Step, call, calls

DOCUMENT = "# Handbook\n\n## Holidays\n\nThirty days a year.\n\n## Pay\n\nPaid monthly.\n"


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "staff"
    folder.mkdir()
    (folder / "handbook.md").write_text(DOCUMENT)
    return folder


@asynccontextmanager
async def agent(
    home: Path, sources: Path | str, steps: Sequence[Step], embedder: Any = None, **environ: str
) -> AsyncIterator[RagAgent]:
    runtime = AgentRuntime(
        home=home,
        settings=AgentSettings.load({"RAG_SOURCES": str(sources), **environ}),
        model=ScriptedModel.of(*steps),
        checkpointer=InMemorySaver(),
        embedder=embedder or WordEmbedder(),
    )
    made = RagAgent(runtime)
    await made.start()
    try:
        yield made
    finally:
        await made.stop()


async def ready(made: RagAgent) -> None:
    while not (await made.readiness()).ready:
        await asyncio.sleep(0.01)


async def embedded(made: RagAgent) -> None:
    while not (state := await made.readiness()).ready or state.busy:
        await asyncio.sleep(0.01)


async def tools_of(made: RagAgent) -> list[BaseTool]:
    """The agent's tools; all of them are LangChain's own."""
    tools = list(await made.tools())
    assert all(isinstance(tool, BaseTool) for tool in tools)
    return [tool for tool in tools if isinstance(tool, BaseTool)]


async def turn(made: RagAgent, text: str = "question", task: str = "t1") -> list[Any]:
    request = AgentRequest(text, task_id=task, context_id="c", message_id=task, thread_id="thread")
    return [event async for event in made.stream(request)]


async def results(made: RagAgent) -> list[Any]:
    model: Any = made.runtime.model
    messages = model.requests[-1].messages
    return [parse_result(str(m.content)) for m in messages if isinstance(m, ToolMessage)]


@pytest.mark.processes
async def test_the_three_tools_answer_in_the_shared_shapes_without_machine_paths(
    documents: Path, tmp_path: Path
) -> None:
    steps: list[Step] = [
        calls(
            call("search", query="How many holidays?", limit=1),
            call("fetch_document", source="staff/handbook.md#pay"),
            call("list_sources"),
        ),
        "Thirty days.",
    ]
    async with agent(tmp_path / "home", documents, steps) as made:
        await ready(made)
        assert isinstance((await turn(made))[-1], Completed)
        found, page, listing = await results(made)
    assert isinstance(found, Articles)
    best = found.articles[0]
    assert (best.title, best.url, best.content) == (
        "Handbook",
        "staff/handbook.md#holidays",
        "Thirty days a year.",
    )
    assert best.metadata["heading"] == "Holidays"
    assert best.metadata["source"] == "staff/handbook.md"
    assert isinstance(page, Record)
    assert (page.source, page.item) == (
        "staff/handbook.md#pay",
        {"title": "Handbook", "text": "Paid monthly."},
    )
    assert isinstance(listing, Items)
    assert listing.items == [{"source": "staff/handbook.md", "title": "Handbook", "passages": 2}]
    assert str(tmp_path) not in "".join(r.model_dump_json() for r in (found, page, listing))


async def test_searches_are_capped_in_each_turn_by_a_result_that_is_no_error(
    documents: Path, tmp_path: Path
) -> None:
    volley = calls(*(call("search", f"a{n}", query="holidays") for n in range(2)))
    single = calls(call("search", "b", query="holidays"))
    steps: list[Step] = [volley, single, "Done.", calls(call("search", "c", query="holidays")), "Again."]
    async with agent(tmp_path / "home", documents, steps, RAG_MAX_SEARCHES_PER_TURN="2") as made:
        await ready(made)
        await turn(made, task="t1")
        first, second, third = await results(made)
        await turn(made, task="t2")
        again = (await results(made))[-1]
    assert first.articles
    assert second.articles
    assert third.articles == []
    assert third.note.startswith("You have searched 2 times")
    assert "Answer with what you have" in third.note
    assert again.articles


async def test_a_broken_index_fails_the_turn_instead_of_finding_nothing(
    documents: Path, tmp_path: Path
) -> None:
    steps: list[Step] = [calls(call("search", query="holidays")), "The documents could not be searched."]
    async with agent(tmp_path / "home", documents, steps) as made:
        await ready(made)
        (tmp_path / "home" / INDEX_FILE).write_bytes(b"overwritten" * 1000)
        last = (await turn(made))[-1]
        (problem,) = await results(made)
    assert isinstance(problem, ToolProblem)
    assert problem.error == "retrieval_failed"
    assert isinstance(last, Failed)
    assert last.code == "retrieval_failed"


async def test_an_unknown_document_is_answered_with_the_closest(documents: Path, tmp_path: Path) -> None:
    steps: list[Step] = [
        calls(
            call("fetch_document", "x", source="hand-book"), call("fetch_document", "y", source="handbook.md")
        ),
        "ok",
    ]
    async with agent(tmp_path / "home", documents, steps) as made:
        await ready(made)
        await turn(made)
        unknown, by_ending = await results(made)
    assert unknown.items == [{"source": "staff/handbook.md", "title": "Handbook"}]
    assert unknown.note.startswith("There is no document of that name.")
    assert by_ending.source == "staff/handbook.md"


@pytest.mark.listens
async def test_the_agent_is_not_ready_before_every_document_was_read(tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def page(_: Request) -> PlainTextResponse:
        await gate.wait()
        return PlainTextResponse("Thirty days a year.")

    async with (
        running(Starlette(routes=[Route("/slow.txt", page)])) as url,
        agent(tmp_path / "home", f"{url}/slow.txt", [], RAG_ALLOW_PRIVATE_URLS="true") as made,
    ):
        state = await made.readiness()
        assert not state.ready
        assert state.busy.startswith("ingesting")  # so that whoever waits for it is patient
        tools = {tool.name: tool for tool in await tools_of(made)}
        listing = parse_result(await tools["list_sources"].ainvoke({}))
        assert isinstance(listing, Items)
        assert "still being read" in str(listing.note)
        gate.set()
        await ready(made)
        assert "still" not in str(parse_result(await tools["list_sources"].ainvoke({})))


async def test_the_agent_answers_by_words_while_vectors_are_still_made(
    documents: Path, tmp_path: Path
) -> None:
    gate, held = asyncio.Event(), asyncio.Event()

    class Held(WordEmbedder):
        async def embed(self, texts: Sequence[str]) -> Any:
            held.set()
            await gate.wait()
            return await super().embed(texts)

    steps: list[Step] = [calls(call("search", query="holidays")), "ok"]
    async with agent(tmp_path / "home", documents, steps, Held()) as made:
        await ready(made)
        await held.wait()
        busy = (await made.readiness()).busy
        await turn(made)
        (found,) = await results(made)
        gate.set()
    assert found.articles[0].content == "Thirty days a year."
    assert "similarity" not in found.articles[0].metadata
    total = int(busy.split()[2])
    assert busy == f"0 of {total} passages embedded"
    assert found.note == (
        f"Only words were compared, since passages are still being embedded (0 of {total} passages embedded)."
    )


async def test_an_operator_can_have_questions_wait_for_the_vectors(documents: Path, tmp_path: Path) -> None:
    gate = asyncio.Event()

    class Held(WordEmbedder):
        async def embed(self, texts: Sequence[str]) -> Any:
            await gate.wait()
            return await super().embed(texts)

    async with agent(tmp_path / "home", documents, [], Held(), RAG_READY_SECONDS="600") as made:
        async with asyncio.timeout(60):
            while "passages embedded" not in (state := await made.readiness()).detail:
                await asyncio.sleep(0.01)
        assert not state.ready
        gate.set()
        await ready(made)
        assert (await made.readiness()).busy == ""


async def test_a_failed_start_up_ingestion_is_told_to_the_operator(documents: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "index.sqlite")
    connection = sqlite3.connect(tmp_path / "index.sqlite")
    connection.execute("DROP TABLE documents")
    connection.close()
    settings = RagSettings.load({})
    ingestion = StartupIngestion(EmbeddedIndex(store.path), settings, None, [str(documents)])
    ingestion.start()
    await ingestion.wait()
    assert f"{tmp_path.name}/index.sqlite in PLATFORM_ENGINEER_HOME is damaged. Delete it" in ingestion.detail
    assert "no such table" not in ingestion.detail
    assert not ingestion.ready
    assert not ingestion.works


async def test_a_broken_embedding_model_leaves_the_agent_ready_with_words(
    documents: Path, tmp_path: Path
) -> None:
    class Broken(WordEmbedder):
        async def embed(self, texts: Sequence[str]) -> Any:
            raise RuntimeError("secret detail")

    async with agent(
        tmp_path / "home", documents, [calls(call("search", query="holidays")), "ok"], Broken()
    ) as made:
        await ready(made)
        await turn(made)
        (found,) = await results(made)
    assert found.articles[0].content == "Thirty days a year."


async def test_the_prompt_names_only_tools_and_arguments_that_exist(tmp_path: Path) -> None:
    async with agent(tmp_path / "home", "none", []) as made:
        tools = await tools_of(made)
        prompt = made.system_prompt()
    known = {tool.name for tool in tools} | {name for tool in tools for name in tool.args}
    known |= {"url", "docs/add-an-agent.md#the-card"}
    quoted = {word for number, word in enumerate(prompt.split("`")) if number % 2}
    assert quoted <= known
    assert {tool.name for tool in tools} <= quoted


async def test_each_tool_has_examples_and_hides_what_the_model_does_not_give(tmp_path: Path) -> None:
    async with agent(tmp_path / "home", "none", []) as made:
        tools = await tools_of(made)
        assert {skill.id for skill in made.skills} == {tool.name for tool in tools}
    for tool in tools:
        assert len((tool.metadata or {})["examples"]) >= 5
        assert "runtime" not in json.dumps(tool.tool_call_schema)


def test_the_command_ingests_and_removes_with_exit_codes(
    documents: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLATFORM_ENGINEER_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("EMBEDDINGS_PROVIDER", "none")
    assert run_ingest([str(documents)]) == 0
    out = capsys.readouterr().out
    assert "[1/1] staff/handbook.md: added" in out
    assert "words only" in out
    assert run_ingest([str(documents), "/no/such"]) == 1
    assert "/no/such does not exist." in capsys.readouterr().out
    assert run_ingest([str(documents), "--remove"]) == 0
    assert run_ingest([str(documents), "--remove"]) == 1
    monkeypatch.setenv("RAG_CHUNK_TOKENS", "many")
    assert run_ingest([str(documents)]) == 2
    assert "RAG_CHUNK_TOKENS" in capsys.readouterr().err


@pytest.mark.processes
async def test_a_running_agent_finds_what_another_process_ingests(documents: Path, tmp_path: Path) -> None:
    steps: list[Step] = [
        calls(call("search", query="holidays")),
        "none",
        calls(call("search", query="holidays")),
        "some",
    ]
    home = tmp_path / "data" / "rag"
    home.mkdir(parents=True)
    async with agent(home, "none", steps) as made:
        await embedded(made)  # until then a note says so
        await turn(made, task="t1")
        (before,) = await results(made)
        process = await preloaded.start(
            ("-m", "agents.rag", "ingest", str(documents)),
            cwd=REPOSITORY,
            env=environment(tmp_path),
            stdout=asyncio.subprocess.DEVNULL,
        )
        assert await process.wait() == 0
        await turn(made, task="t2")
        after = (await results(made))[-1]
    assert before.articles == []
    assert before.note == "No passage in the documents matches."
    assert after.articles[0].url == "staff/handbook.md#holidays"


def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "PLATFORM_ENGINEER_HOME": str(tmp_path / "data"),
        "EMBEDDINGS_PROVIDER": "none",
        "PYTHONPATH": str(REPOSITORY),
    }


@pytest.mark.processes
async def test_ctrl_c_ends_the_command_with_a_sentence_and_a_whole_index(
    documents: Path, tmp_path: Path
) -> None:
    for number in range(300):
        (documents / f"n{number}.md").write_text(f"# N{number}\n\n" + "words of a note. " * 300)
    process = await preloaded.start(
        ("-m", "agents.rag", "ingest", str(documents)),
        cwd=REPOSITORY,
        env=environment(tmp_path),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    while not (await process.stdout.readline()).startswith(b"[5/"):
        pass
    process.send_signal(signal.SIGINT)
    out, err = await process.communicate()
    assert process.returncode == 130
    assert b"Interrupted. What was ingested so far is complete" in out
    assert b"Traceback" not in err
    stored = Store(tmp_path / "data" / "rag" / INDEX_FILE).documents()
    assert 5 <= len(stored) < 301
    assert all(document.passages for document in stored)
