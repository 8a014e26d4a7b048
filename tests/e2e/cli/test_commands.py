from __future__ import annotations

import asyncio
import json
import socket

import pytest

from tests.e2e.cli.command import ROOT, finish, run, run_fresh, start
from tests.e2e.cli.scripted_agent import ScriptedAgent, Turn, serve
from utils.version import project_version


async def asking(turn: Turn) -> None:
    await turn.task()
    if turn.text == "ask":
        await turn.status("input_required", "Which one?")
    else:
        await turn.chunk(f"Echo: {turn.text}", append=False)
        await turn.status("completed")


async def test_agents_shows_health_latency_version_and_skills(tmp_path):
    async with serve(ScriptedAgent(asking)) as url:
        table = await run("agents", "--url", url, home=tmp_path)
        listed = await run("agents", "--url", url, "--json", home=tmp_path)
    assert table.code == 0
    assert all(word in table.out for word in ("ready", " ms", "1.2.3", url, "Echo"))
    row = json.loads(listed.out)[0]
    assert row["skills"] == ["Echo"]
    assert row["health"] == "ready"
    assert 0 < row["latency_ms"] < 10_000


async def test_agents_that_do_not_answer_are_rows_and_none_at_all_exits_3(tmp_path):
    agents = "a=http://127.0.0.1:9,b=http://127.0.0.1:10"
    done = await run("agents", "--json", home=tmp_path, SUB_AGENTS=agents)
    rows = {row["name"]: row for row in json.loads(done.out)}
    assert set(rows) == {"supervisor", "a", "b"}
    assert rows["a"]["health"] == "down"
    assert "No agent answers at http://127.0.0.1:9" in rows["a"]["detail"]


async def test_without_a_service_of_ours_an_agent_that_answers_is_said_to_be_started_in_another_way(tmp_path):
    async with serve(ScriptedAgent(asking)) as url:
        without = await run("agents", home=tmp_path, SUB_AGENTS=f"a={url}")
        named = await run("agents", "--url", url, home=tmp_path)
    assert "ready" in without.out
    assert "was started in another way" in " ".join(without.err.split())
    assert named.err == ""


@pytest.mark.long
async def test_tasks_can_be_listed_shown_followed_and_canceled(tmp_path):
    agent = ScriptedAgent(asking)
    async with serve(agent) as url:
        await run("chat", "--url", url, "--ask", "hello", home=tmp_path)
        waiting = await run("chat", "--url", url, "--ask", "ask", "--json", home=tmp_path)
        task = json.loads(waiting.out.splitlines()[-1])["task_id"]
        done = agent.seen[0][1]

        listed = await run("tasks", "list", "--url", url, home=tmp_path)
        assert (listed.code, done in listed.out, task in listed.out) == (0, True, True)
        assert "input-required" in listed.out
        as_json = await run("tasks", "list", "--url", url, "--json", "--limit", "1", home=tmp_path)
        assert len(json.loads(as_json.out)) == 1

        shown = await run("tasks", "show", done, "--url", url, home=tmp_path)
        assert (shown.code, shown.out) == (0, "Echo: hello\n")
        short = await run("tasks", "show", done[:12], "--url", url, home=tmp_path)
        assert (short.code, short.out) == (0, "Echo: hello\n")
        followed = await run("tasks", "follow", task, "--url", url, home=tmp_path)
        assert (followed.code, "Which one?" in followed.err) == (5, True)

        canceled = await run("tasks", "cancel", task[:12], "--url", url, home=tmp_path)
        assert (canceled.code, agent.canceled) == (0, [task])
        again = await run("tasks", "cancel", done, "--url", url, home=tmp_path)
        assert again.code == 4
        missing = await run("tasks", "show", "no-such-task", "--url", url, "--json", home=tmp_path)
        assert (missing.code, json.loads(missing.out)["code"]) == (4, "agent_refused")


async def test_a_task_that_is_shown_while_it_works_is_not_said_to_have_ended(tmp_path):
    goes_on = asyncio.Event()

    async def slow(turn: Turn) -> None:
        await turn.task()
        await turn.status("working")
        if turn.text == "with a beginning":
            await turn.chunk("So far.", append=False)
        await goes_on.wait()
        await turn.status("completed")

    agent = ScriptedAgent(slow)
    async with serve(agent) as url:
        for text, said, event in (("silently", "", b"working"), ("with a beginning", "So far.\n", b"So far")):
            asking = await start("chat", "--url", url, "--ask", text, "--json", home=tmp_path)
            assert asking.stdout is not None
            async with asyncio.timeout(60):
                while event not in await asking.stdout.readline():
                    pass
            task = agent.seen[-1][1]
            shown = await run("tasks", "show", task, "--url", url, home=tmp_path)
            assert (shown.code, shown.out) == (0, said)
            assert f"task {task} · working · " in shown.err
            assert (
                "The task has not ended yet.\nTo follow it: platform-engineer tasks follow --url "
                in shown.err
            )
            assert "without an answer" not in shown.err
            asking.kill()
            await asking.wait()
        goes_on.set()


async def test_the_version_is_printed_alone(tmp_path):
    done = await run("--version", home=tmp_path)
    assert (done.code, done.out, done.err) == (0, f"platform-engineer {project_version()}\n", "")


async def test_tasks_without_a_service_say_how_to_start_one(tmp_path):
    done = await run("tasks", "list", home=tmp_path)
    assert done.code == 3
    assert "platform-engineer up" in done.err


async def test_doctor_names_the_variable_of_a_wrong_setting_and_exits_2(tmp_path):
    done = await run("doctor", "--json", home=tmp_path, LLM_TEMPERATURE="hot", LOG_FORMAT="loud")
    wrong = done.findings("wrong")
    assert done.code == 2
    assert any("LLM_TEMPERATURE" in sentence for sentence in wrong)
    assert any("LOG_FORMAT" in sentence for sentence in wrong)
    assert "hot" not in done.out


async def test_doctor_says_that_the_model_is_the_offline_one_and_how_to_switch(tmp_path):
    done = await run("doctor", home=tmp_path)
    assert done.code == 0
    assert "offline model" in done.out
    assert "LLM_PROVIDER" in done.out
    assert "\x1b" not in done.out


async def test_doctor_names_what_a_provider_lacks(tmp_path):
    done = await run("doctor", home=tmp_path, LLM_PROVIDER="openai", LLM_MODEL="gpt-4.1", OPENAI_API_KEY="")
    assert done.code == 2
    assert "OPENAI_API_KEY" in done.out


async def test_doctor_tells_a_taken_port_and_that_the_next_one_is_used(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        file = tmp_path / "agents.yaml"
        file.write_text(f"one: {{module: one, port: {port}}}\n")
        done = await run("doctor", "--agents-file", str(file), home=tmp_path)
    assert f"{port} is taken by another program; one will use the next free one" in done.out


async def test_doctor_reports_a_foreign_agent_that_is_down(tmp_path):
    done = await run("doctor", home=tmp_path, SUB_AGENTS="weather=http://127.0.0.1:9")
    assert done.code == 2
    assert "weather: down, No agent answers at http://127.0.0.1:9." in done.out


async def test_doctor_tells_a_data_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    done = await run("doctor", home=tmp_path, PLATFORM_ENGINEER_HOME=str(tmp_path / "file" / "data"))
    assert done.code == 2
    assert "set PLATFORM_ENGINEER_HOME to a folder that can" in done.out


MODULE = """
import json, os, sys
print(json.dumps({"argv": sys.argv[1:], "pid": os.getpid()}))
sys.exit(9)
"""


async def test_serve_becomes_the_module_of_the_agent(tmp_path):
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "agents.yaml").write_text("mine: {module: mine, port: 8009}\n")
    options = ("--agents-file", str(tmp_path / "agents.yaml"))
    done = await run("serve", "mine", "--port", "8009", "--host", "127.0.0.1", *options, home=tmp_path)
    assert done.code == 9
    assert json.loads(done.out)["argv"] == ["--host", "127.0.0.1", "--port", "8009"]


async def test_serve_of_an_unknown_agent_lists_the_known_ones(tmp_path):
    done = await run("serve", "jira", home=tmp_path)
    assert done.code == 2
    assert "github, rag, supervisor" in done.err


async def test_help_is_instant_and_tells_the_exit_codes(tmp_path):
    done = await run("--help", home=tmp_path)
    assert "4 the task failed" in " ".join(done.out.split())
    imported = await run("--help", home=tmp_path, PYTHONPROFILEIMPORTTIME="1")
    heavy = ("a2a", "langchain", "httpx", "pydantic", "prompt_toolkit", "google.protobuf")
    modules = {line.rsplit("|", 1)[1].strip() for line in imported.err.splitlines() if "|" in line}
    assert not [name for name in modules if name.startswith(heavy)]


async def test_a_wrong_option_exits_2(tmp_path):
    assert (await run("chat", "--colour", home=tmp_path)).code == 2


@pytest.mark.long
async def test_an_error_that_nobody_foresaw_is_a_sentence_and_the_traceback_a_file(tmp_path):
    (tmp_path / "agents.yaml").write_text("one: {module: one, port: 8009}\n")
    (tmp_path / "sitecustomize.py").write_text(
        "import multi_agents.cli.service.local as local\n"
        "def broken(*_): raise ZeroDivisionError('inner words')\n"
        "local.home_folder = broken\n"
    )
    python_path = f"{tmp_path}:{ROOT}"
    environ = {"PYTHONPATH": python_path, "TMPDIR": str(tmp_path)}
    done = await run_fresh("tasks", "list", home=tmp_path, **environ)
    assert done.code == 1
    assert done.err.startswith("Error [internal_error]: ZeroDivisionError was not expected here.")
    assert "inner words" not in done.err
    (file,) = tmp_path.glob("platform-engineer-*.log")
    assert "inner words" in file.read_text()


async def test_a_reader_that_goes_away_is_no_error_with_a_traceback(tmp_path):
    process = await start("--help", home=tmp_path)
    assert process.stdout is not None
    process.stdout._transport.close()  # type: ignore[attr-defined]
    done = await finish(process)
    assert "Traceback" not in done.err
