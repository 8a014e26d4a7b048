"""A wrong value, an unknown name and an unreadable `.env` are told in a sentence, before anything is served."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.cli.command import PIPE, environment, finish, run, run_agent
from tests.e2e.cli.test_up import Scene
from tests.ports import free_port
from tests.preloaded import process as preloaded

WRONG = {
    "TURN_TIMEOUT_SECONDS": "abc",
    "TASK_BUDGET_TOKENS": "abc",
    "MCP_START_SECONDS": "abc",
    "GITHUB_MAX_ITEMS": "0",
    "GITHUB_API_URL": "api.github.com",
    "RAG_CHUNK_TOKENS": "1",
    "MODEL_PRICES": "foo",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318",
    "PUBLIC_URL": "foo",
    "MAX_CONTEXT_TOKENS": "100",
}


async def test_doctor_tells_every_wrong_value_of_every_group_and_agent(tmp_path):
    done = await run("doctor", "--json", home=tmp_path, **WRONG)
    assert done.code == 2
    wrong = done.findings("wrong")
    assert {name for name in WRONG if any(name in sentence for sentence in wrong)} == set(WRONG)
    assert len(wrong) == len(WRONG)
    assert not any(value in sentence for value in ("abc", "collector") for sentence in wrong)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("MCP_SERVERS", {"MCP_SERVERS": "/nope"}),
        ("OPENAI_API_KEY", {"LLM_FALLBACK_PROVIDER": "openai", "LLM_FALLBACK_MODEL": "gpt-4.1", "OPENAI_API_KEY": ""}),
        ("OPENAI_API_KEY", {"EMBEDDINGS_PROVIDER": "openai", "OPENAI_API_KEY": ""}),
        ("CONTEXT_SUMMARY_PROMPT_FILE", {"CONTEXT_SUMMARY_PROMPT_FILE": "/nope"}),
        ("GRPC_TLS_CERT_FILE", {"GRPC_TLS_CERT_FILE": "/nope"}),
    ],
)  # fmt: skip
@pytest.mark.long
async def test_doctor_tells_what_values_lack_that_can_be_read_one_by_one(tmp_path, name, settings):
    done = await run("doctor", "--json", home=tmp_path, **settings)
    assert (done.code, [name in sentence for sentence in done.findings("wrong")]) == (2, [True])


SUPERVISOR = "multi_agents.platform_engineer"

CONTRADICTIONS = [
    ("AUTH_ISSUERS", {"AUTH_MODE": "oidc"}),
    ("AUTH_MODE", {"HOST": "0.0.0.0"}),
    ("LLM_TOOL_CALLS", {"LLM_TOOL_CALLS": "json"}),
    ("GITHUB_APP_KEY_FILE", {"GITHUB_APP_ID": "1"}),
]
"""Values that can be read one by one, and with which an agent does not start."""


@pytest.mark.parametrize(
    ("name", "settings"), CONTRADICTIONS, ids=lambda one: one if isinstance(one, str) else ""
)
@pytest.mark.long
async def test_doctor_refuses_what_keeps_an_agent_from_starting(tmp_path, name, settings):
    done = await run("doctor", "--json", home=tmp_path, **settings)
    assert done.code == 2
    (sentence,) = done.findings("wrong")
    assert " cannot be started: " in sentence
    assert name in sentence
    assert [path.name for path in tmp_path.iterdir()] == []


async def test_a_start_is_refused_with_the_sentence_of_doctor(tmp_path):
    settings = {"AUTH_MODE": "oidc"}
    checked = await run("doctor", "--json", home=tmp_path, **settings)
    (sentence,) = checked.findings("wrong")
    started = await run("up", "--port", str(free_port()), home=tmp_path, **settings)
    assert started.code == 2
    assert sentence.partition(" cannot be started: ")[2] in started.err


async def test_doctor_checks_the_settings_that_one_agent_has_for_itself(tmp_path):
    (tmp_path / "agents.yaml").write_text(
        "rag: {module: agents.rag, port: 8002, env: {ENGINE: distributed}}\ngithub: {module: agents.github, port: 8001}\n"
    )
    done = await run("doctor", "--json", "--agents-file", str(tmp_path / "agents.yaml"), home=tmp_path)
    (sentence,) = done.findings("wrong")
    assert sentence.startswith("rag cannot be started: ENGINE=distributed needs DATABASE_URL")


@pytest.mark.parametrize(
    ("name", "agent", "settings"),
    [
        ("MCP_SERVERS", SUPERVISOR, {"MCP_SERVERS": "/nope"}),
        ("OPENAI_API_KEY", SUPERVISOR, {"LLM_FALLBACK_PROVIDER": "openai", "LLM_FALLBACK_MODEL": "gpt-4.1", "OPENAI_API_KEY": ""}),
        ("CONTEXT_SUMMARY_PROMPT_FILE", SUPERVISOR, {"CONTEXT_SUMMARY_PROMPT_FILE": "/nope"}),
        ("PUBLIC_URL", SUPERVISOR, {"PUBLIC_URL": "foo"}),
        ("GITHUB_API_URL", "agents.github", {"GITHUB_API_URL": "api.github.com"}),
    ],
)  # fmt: skip
async def test_an_agent_with_a_wrong_value_ends_with_a_sentence_and_exit_code_2(
    tmp_path, name, agent, settings
):
    done = await run_agent(agent, home=tmp_path, LOG_FORMAT="json", **settings)
    assert done.code == 2
    assert name in done.err.splitlines()[-1]
    assert "Traceback" not in done.err


async def test_serve_ends_as_the_agent_does_that_it_becomes(tmp_path):
    done = await run("serve", "supervisor", "--port", "0", home=tmp_path, MODEL_PRICES="foo")
    assert done.code == 2
    assert "MODEL_PRICES" in done.err.splitlines()[-1]
    assert "Traceback" not in done.err


async def test_doctor_refuses_a_misspelt_name_in_the_env_file_and_says_what_was_meant(tmp_path):
    (tmp_path / ".env").write_text(
        "LLM_PROVDIER=openai\nrag_sources=none\nRAG_NONSENSE=1\nSSL_CERT_FILE=/x\n"
    )
    done = await run("doctor", "--json", home=tmp_path)
    assert done.code == 2
    assert done.findings("wrong") == [
        ".env sets LLM_PROVDIER, which no setting is called: did you mean LLM_PROVIDER?",
        ".env sets rag_sources, which no setting is called: did you mean RAG_SOURCES?",
        ".env sets RAG_NONSENSE, which no setting is called.",
    ]
    assert any(".env sets SSL_CERT_FILE" in sentence for sentence in done.findings("note"))


async def test_doctor_notes_a_misspelt_name_in_the_environment_and_leaves_those_of_others_alone(tmp_path):
    others = {"LOGNAME": "me", "GITHUB_ACTIONS": "true", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}
    done = await run("doctor", "--json", home=tmp_path, LLM_PROVIDR="openai", GITHUB_TOKENS="x", **others)
    assert done.code == 0
    names = [sentence for sentence in done.findings("note") if "which no setting is called" in sentence]
    assert names == [
        "The environment sets GITHUB_TOKENS, which no setting is called: did you mean GITHUB_TOKEN?",
        "The environment sets LLM_PROVIDR, which no setting is called: did you mean LLM_PROVIDER?",
    ]


async def test_doctor_says_that_a_key_alone_switches_no_model_on(tmp_path):
    done = await run("doctor", "--json", home=tmp_path, OPENAI_API_KEY="secret-key")
    assert done.code == 0
    assert any("OPENAI_API_KEY is set and not used" in sentence for sentence in done.findings("note"))
    assert "secret-key" not in done.out


async def test_an_agent_logs_the_names_that_look_like_a_settings(tmp_path):
    settings = {"LLM_PROVIDR": "openai", "MODEL_PRICES": "foo", "LOG_FORMAT": "json"}
    done = await run_agent(SUPERVISOR, home=tmp_path, **settings)
    lines = [json.loads(line) for line in done.err.splitlines() if "setting.unknown" in line]
    assert [(one["name"], one["meant"], one["level"]) for one in lines] == [
        ("LLM_PROVIDR", "LLM_PROVIDER", "warning")
    ]


TWICE = "GITHUB_TOKEN=first-secret\n\nLLM_MAX_RETRIES=1\nexport GITHUB_TOKEN=second-secret\n"
TOLD = "The file .env sets GITHUB_TOKEN on the lines 1 and 4: the last one counts. Remove the others."


async def test_doctor_notes_a_name_that_the_env_file_sets_twice_and_shows_no_value(tmp_path):
    (tmp_path / ".env").write_text(TWICE)
    done = await run("doctor", "--json", home=tmp_path)
    assert TOLD in done.findings("note")
    assert "secret" not in done.out


async def test_an_agent_that_is_refused_says_so_as_an_event_of_its_log_too(tmp_path):
    (tmp_path / ".env").write_text(TWICE)
    done = await run_agent(SUPERVISOR, home=tmp_path, LOG_FORMAT="json", MODEL_PRICES="foo")
    *events, sentence = done.err.splitlines()
    by_name = {one["event"]: one for one in map(json.loads, events)}
    assert by_name["agent.not_started"]["reason"] == sentence
    assert (by_name["agent.not_started"]["level"], by_name["agent.not_started"]["exit_code"]) == ("error", 2)
    assert (by_name["setting.repeated"]["name"], by_name["setting.repeated"]["lines"]) == (
        "GITHUB_TOKEN",
        [1, 4],
    )
    assert "secret" not in done.err


async def test_up_says_which_names_the_env_file_sets_twice(tmp_path):
    (tmp_path / ".env").write_text(TWICE)
    async with Scene(tmp_path).up() as (_, lines, _):
        assert TOLD in lines.splitlines()


async def test_up_says_which_names_it_does_not_know(tmp_path):
    (tmp_path / ".env").write_text("RAG_SOURCE=none\nSSL_CERT_FILE=/x\n")
    async with Scene(tmp_path).up() as (_, lines, _):
        told = [line for line in lines.splitlines() if "which no setting is called" in line]
    assert told == [".env sets RAG_SOURCE, which no setting is called: did you mean RAG_SOURCES?"]


@pytest.mark.parametrize("command", [("doctor",), ("serve", "supervisor"), ("tasks", "list")])
async def test_an_env_file_that_is_no_text_is_a_sentence(tmp_path, command):
    (tmp_path / ".env").write_bytes("LLM_MODEL=schön\n".encode("latin-1"))
    done = await run(*command, home=tmp_path)
    assert done.code == 2
    assert (done.out + done.err).count(".env is not text in UTF-8") == 1
    assert "Traceback" not in done.err


SWITCHED_ON = 'AUTH_MODE="api-key'
"""A quote is opened and not closed. Left out, it would leave the service open to everybody."""


@pytest.mark.parametrize(
    "command",
    [
        ("chat", "--ask", "hi"), ("chat", "--url", "http://127.0.0.1:1", "--ask", "hi"), ("up",), ("web",),
        ("serve", "supervisor"), ("ingest", "README.md"), ("agents",), ("tasks", "list"), ("keys", "list"),
        ("keys", "create", "ann"), ("conversations", "list"), ("memory", "list"), ("login",), ("logout",),
        ("db", "status"),
    ],
    ids=" ".join,
)  # fmt: skip
async def test_a_line_of_an_env_file_that_cannot_be_read_ends_each_command(tmp_path, command):
    (tmp_path / ".env").write_text(f"# the service\n\n{SWITCHED_ON}\nLOG_LEVEL=info\n")
    done = await run(*command, home=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "Error [settings_invalid]: Line 3 of the file .env cannot be read: the quotes around the value of AUTH_MODE are "
        "not closed, or something follows them. Correct it, or begin it with #.\n"
    )


async def test_an_agent_that_is_started_by_itself_reads_the_same_env_file(tmp_path):
    (tmp_path / ".env").write_text(f"{SWITCHED_ON}\n")
    env = environment(tmp_path)
    started = await preloaded.start(
        ("-m", "agents.rag"), env=env, cwd=tmp_path, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    done = await finish(started)
    assert done.code == 2
    assert done.err.startswith("Line 1 of the file .env cannot be read")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('GITHUB_TOKEN="ghp_secret', "the quotes around the value of GITHUB_TOKEN are not closed"),
        (
            "export GITHUB_TOKEN='ghp_secret' 'b'",
            "the quotes around the value of GITHUB_TOKEN are not closed",
        ),
        ("GITHUB_TOKEN ghp_secret", "it is neither NAME=VALUE nor a comment"),
        ("GITHUB_TOKEN:ghp_secret", "it is neither NAME=VALUE nor a comment"),
        ("=ghp_secret", "it is neither NAME=VALUE nor a comment"),
    ],
)
async def test_doctor_tells_the_line_that_cannot_be_read_and_never_a_value(tmp_path, line, why):
    (tmp_path / ".env").write_text(f"LOG_LEVEL=info\n\n  \n{line}\n")
    done = await run("doctor", "--json", home=tmp_path)
    assert done.code == 2
    (sentence,) = done.findings("wrong")
    assert sentence.startswith(f"Line 4 of the file .env cannot be read: {why}")
    assert "secret" not in done.out + done.err


async def test_an_env_file_of_another_editor_is_read(tmp_path):
    (tmp_path / ".env").write_bytes("\ufeffLLM_TEMPERATURE=hot\r\nLOG_LEVEL=loud\r\n".encode())
    done = await run("doctor", "--json", home=tmp_path)
    assert done.code == 2
    assert len(done.findings("wrong")) == 2


async def test_an_agents_module_whose_settings_cannot_be_read_is_told(tmp_path):
    package = tmp_path / "broken_agent"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "settings.py").write_text("import no_such_package\n")
    (tmp_path / "agents.yaml").write_text("broken: {module: broken_agent, port: 8009}\n")
    done = await run(
        "doctor", "--json", "--agents-file", str(tmp_path / "agents.yaml"), home=tmp_path,
        PYTHONPATH=f"{Path(__file__).parents[3]}:{tmp_path}",
    )  # fmt: skip
    assert done.code == 2
    assert done.findings("wrong") == ["The settings of broken_agent cannot be read: ModuleNotFoundError."]
