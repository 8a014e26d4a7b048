"""`env` of an entry of the agents file: settings of one agent, which `up` and `chat` give its process alone."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.e2e.cli.command import Finished, run
from tests.e2e.cli.test_up import Scene
from utils.testing.strict_provider import Call, FaultKind, Reply, run_strict_provider

AGENT = '''
from __future__ import annotations

from pydantic import Field

from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.events import Completed, TextDelta
from utils.settings import EnvSettings


class OwnSettings(EnvSettings):
    """One setting."""

    floor: int = Field(0, alias="HOUSE_FLOOR", ge=0)


class House(BaseLangGraphAgent):
    name = "{name}"
    description = "Says how it is set."

    async def stream(self, request):
        settings = self.runtime.settings
        floor = OwnSettings.load(self.runtime.environ).floor
        yield TextDelta(f"{{settings.llm.model}} {{settings.context.window}} {{settings.context.policy}} {{floor}}")
        yield Completed()


if __name__ == "__main__":
    import sys

    from utils.a2a_common.server.serve import serve

    sys.exit(serve(House))
'''
MESSAGE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "SendMessage",
    "params": {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "How are you set?"}]}},
}
SERVICE = {
    "MAX_CONTEXT_TOKENS": "64000",
    "LLM_MODEL": "any",
    "HOUSES_FLOOR": "3",
    "EMBEDDINGS_PROVIDER": "none",
}


def scene(folder: Path, env: str) -> Scene:
    """A service of real agents `one` and `two`; `one` has settings of its own."""
    made = Scene(folder)
    for name in ("one", "two"):
        (folder / f"{name}.py").write_text(AGENT.format(name=name))
    made.file.write_text(
        f"one: {{module: one, port: {made.one}, env: {env}}}\ntwo: {{module: two, port: {made.two}}}\n"
    )
    return made


async def said(port: int) -> str:
    async with httpx.AsyncClient(headers={"A2A-Version": "1.0"}) as http:
        answer = await http.post(f"http://127.0.0.1:{port}/", json=MESSAGE)
    (artifact,) = answer.json()["result"]["task"]["artifacts"]
    return "".join(part["text"] for part in artifact["parts"])


@pytest.mark.long
async def test_an_agents_entry_sets_its_window_policy_and_model_and_no_other_agents(tmp_path, monkeypatch):
    for name, value in SERVICE.items():
        monkeypatch.setenv(name, value)
    env = "{MAX_CONTEXT_TOKENS: 32000, CONTEXT_POLICY: caipe, LLM_MODEL: , HOUSE_FLOOR: '${HOUSES_FLOOR}'}"
    made = scene(tmp_path, env)
    async with made.up():
        assert await said(made.one) == "None 32000 caipe 3"
        assert await said(made.two) == "any 64000 standard 0"


async def doctor(folder: Path, env: str, supervisor: str = "{}", **environ: str) -> Finished:
    (folder / "agents.yaml").write_text(
        f"github: {{module: agents.github, port: 8001, env: {env}}}\nsupervisor: {{env: {supervisor}}}\n"
    )
    return await run("doctor", "--json", "--agents-file", str(folder / "agents.yaml"), home=folder, **environ)


@pytest.mark.long
async def test_doctor_shows_which_settings_an_agent_has_of_its_own_and_checks_its_model(tmp_path):
    called = Reply(calls=[Call("call_1", "report_status", {"status": "ok"})])
    with run_strict_provider(lambda _request: called) as double:
        own = f"OPENAI_BASE_URL: '{double.openai_url}', OPENAI_API_KEY: '${{TEAM_KEY}}'"
        env = f"{{LLM_PROVIDER: openai, LLM_MODEL: gpt-4.1, {own}}}"
        done = await doctor(tmp_path, env, "{CONTEXT_POLICY: rag}", TEAM_KEY="sk-team-secret")
        assert [request.model for request in double.requests] == ["gpt-4.1"]
        double.reset()
        double.fail_next(FaultKind.UNAUTHORISED)
        refused = await doctor(tmp_path, env, TEAM_KEY="sk-team-secret")
    assert done.code == 0
    assert "openai gpt-4.1 answers, calls tools, streams" in done.findings("ok")
    assert refused.code == 2
    assert any("refused the credentials" in line for line in refused.findings("wrong"))
    names = "LLM_MODEL, LLM_PROVIDER, OPENAI_API_KEY, OPENAI_BASE_URL"
    assert f"github has its own {names} (agents.yaml)" in done.findings("ok")
    assert "supervisor has its own CONTEXT_POLICY (agents.yaml)" in done.findings("ok")
    assert any(line.startswith("github: ") and "gpt-4.1" in line for line in done.findings("ok"))
    assert "sk-team-secret" not in done.out + done.err

    done = await doctor(tmp_path, "{LLM_PROVIDER: openai, LLM_MODEL: gpt-4.1}", OPENAI_API_KEY="")
    assert done.code == 2
    assert [line.startswith("github: ") and "OPENAI_API_KEY" in line for line in done.findings("wrong")] == [
        True
    ]


async def test_a_wrong_value_names_file_agent_and_setting_and_no_value(tmp_path):
    done = await doctor(tmp_path, "{MAX_CONTEXT_TOKENS: 100, GITHUB_MAX_ITEMS: abc}")
    assert done.code == 2
    shared, own = done.findings("wrong")
    assert shared.startswith("In agents.yaml, env of github: Setting MAX_CONTEXT_TOKENS is wrong")
    assert own.startswith("In agents.yaml, env of github: Setting GITHUB_MAX_ITEMS is wrong")
    assert "abc" not in own


async def test_a_name_that_no_setting_has_is_told_with_the_one_that_was_meant(tmp_path):
    done = await doctor(tmp_path, "{MAX_CONTEXT_TOKEN: 32000, SSL_CERT_FILE: /x}")
    assert done.code == 2
    meant = "did you mean MAX_CONTEXT_TOKENS?"
    assert done.findings("wrong") == [
        f"agents.yaml, env of github, sets MAX_CONTEXT_TOKEN, which no setting is called: {meant}"
    ]
    assert any("SSL_CERT_FILE" in line for line in done.findings("note"))


async def test_up_refuses_a_wrong_value_of_one_agent_before_anything_is_started(tmp_path):
    for env, setting in [
        ("{TURN_TIMEOUT_SECONDS: soon}", "TURN_TIMEOUT_SECONDS"),
        ("{RAG_CHUNK_TOKENS: 1}", "RAG_CHUNK_TOKENS"),
    ]:
        (tmp_path / "agents.yaml").write_text(f"rag: {{module: agents.rag, port: 8002, env: {env}}}\n")
        done = await run("up", "--agents-file", str(tmp_path / "agents.yaml"), home=tmp_path)
        assert done.code == 2
        assert f"In agents.yaml, env of rag: Setting {setting} is wrong" in done.err
        assert not (tmp_path / "logs").exists()


async def test_documents_are_ingested_with_the_settings_of_the_rag_agent(tmp_path):
    (tmp_path / "note.md").write_text("# Note\n\nThe pager rings at night.\n")
    (tmp_path / "agents.yaml").write_text(
        "rag: {module: agents.rag, port: 8002, env: {EMBEDDINGS_PROVIDER: none}}\n"
    )
    arguments = ("ingest", "--agents-file", str(tmp_path / "agents.yaml"), str(tmp_path / "note.md"))
    done = await run(*arguments, home=tmp_path)
    assert done.code == 0, done.err
    assert "documents are searched by words only" in done.out
    assert "1 added" in done.out

    done = await run(*arguments, "--remove", home=tmp_path)
    assert done.code == 0, done.err
    assert "1 removed" in done.out
    assert (await run(*arguments, "--remove", home=tmp_path)).code == 1
