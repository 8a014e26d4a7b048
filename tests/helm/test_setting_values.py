"""What the settings classes refuse by type, bound or choice, the chart refuses before there is a pod, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from docs.make_configuration import groups
from tests.helm.cases import GITHUB
from tests.helm.chart import CHART, Helm, Manifest, Values, of_kind
from utils.settings_docs import settings_of
from utils.settings_index import wrong_values

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

RAG = {"name": "rag", "port": 8002}
BY_THE_CHART = {
    *("HOST", "PORT", "PUBLIC_URL", "ALLOWED_HOSTS", "PLATFORM_ENGINEER_HOME", "ENCRYPTION_KEYS_FILE"),
    *("SUB_AGENTS", "SUB_AGENTS_SHARES", "SUB_AGENTS_TRUST", "SUB_AGENTS_EXCHANGE"),
    *("TLS_CERT_FILE", "TLS_KEY_FILE", "TLS_CLIENT_CA_FILE"),
    *("TLS_CLIENT_CERT_FILE", "TLS_CLIENT_KEY_FILE", "TLS_CA_FILE"),
}
"""Settings that nobody sets by hand."""
BY_CODE_ALONE = {"LLM_EXTRA_BODY", "AUTH_ALGORITHMS", "MODEL_PRICES", "OTEL_EXPORTER_OTLP_ENDPOINT"}
"""Settings that are text by their type, whose form is known to a function."""
NAMES = sorted(
    {one.variable for group in groups() for one in settings_of(group) if not one.secret}
    - BY_THE_CHART
    - BY_CODE_ALONE
)
REFUSED = re.compile(r"([A-Z][A-Z0-9_]*) is \".*?\" in (.+?), which the service refuses: it must be (.+?)\.")

NUMBERS = (
    *("0", "1", "2", "3", "5", "10", "11", "50", "51", "300", "301", "1000", "1001", "1023", "1024", "1025"),
    *(
        "2000",
        "65535",
        "65536",
        "10000000",
        "10_000_000",
        "1e3",
        "1E3",
        "1e+06",
        "1.0",
        "1.00",
        "1.5",
        "1.",
        ".5",
    ),
    *(
        "+1",
        "-1",
        "-0",
        "-0.0",
        "01",
        "1__0",
        "_1",
        "1_",
        "1_0.0",
        "1.0_0",
        "1.0_",
        "1_e3",
        "+.5e-1",
        "0.99",
        "2.01",
    ),
    *("inf", "-inf", "Infinity", "nan", "0x10", "1,5", "1 000", "--1", "30d", "5s", "4MiB", "1e", "e3", "."),
)
SWITCHES = (
    "true",
    "True",
    "TRUE",
    "t",
    "yes",
    "Y",
    "on",
    "ON",
    "false",
    "F",
    "no",
    "n",
    "off",
    "Off",
    "maybe",
    "truee",
)
WORDS = (
    *("", " ", " 5 ", "\t1\n", "none", "NONE", "None", "null", "<nil>", "openai", "OpenAI", "embedded", "azure", "api-key", "oidc"),
    *("sqlite", "postgresql", "memory", "local", "distributed", "json", "text", "auto", "debug", "INFO", "Warning", "trace"),
    *("standard", "caipe", "turns", "standard ", "caipe|rag", "fork", "spawn", "start", "native", "public", "high", "extreme"),
    *("https://api.example.com", "http://a b", "ftp://a", "https://", "a b", "Iv1.x-9_", "a/b", "ä", "日本", "per\nhaps"),
)  # fmt: skip
TEXTS = (*NUMBERS, *SWITCHES, *WORDS)


def _refused(helm: Helm, values: Values) -> dict[str, set[str]]:
    """The settings that the chart refuses for their values, by where they stand."""
    done = helm.run("template", "first", str(CHART), values=values)
    found: dict[str, set[str]] = {}
    for name, where, _ in REFUSED.findall(done.stderr):
        found.setdefault(where, set()).add(name)
    return found


def _wrong(environ: Mapping[str, str]) -> set[str]:
    """Which of these variables the settings classes refuse."""
    return {problem.variable for problem in wrong_values(groups(), environ)} & environ.keys()


@pytest.mark.parametrize(
    "texts", [TEXTS[at : at + 8] for at in range(0, len(TEXTS), 8)], ids=lambda texts: texts[0]
)
def test_the_chart_refuses_for_every_setting_what_its_class_refuses_and_nothing_else(
    helm: Helm, texts: tuple[str, ...]
):
    every = {f"agent{place}": dict.fromkeys(NAMES, text) for place, text in enumerate(texts)}
    agents = [
        {"name": name, "port": 8001, "args": ["serve", "github", "rag"], "env": env}
        for name, env in every.items()
    ]
    refused = _refused(helm, {"agents": agents})
    for name, env in every.items():
        assert refused.get(f"env of agent {name}", set()) == _wrong(env), set(env.values())


ONE_EACH: dict[str, tuple[Values, str]] = {
    "a number with a unit": (
        {"settings": {"RETENTION_DAYS": "30d"}},
        'RETENTION_DAYS is "30d" in settings, which the service refuses: it must be a number, at least 0.',
    ),
    "a number out of its bounds, of one agent": (
        {"agents": [{**GITHUB, "env": {"GITHUB_MAX_RETRIES": 6}}]},
        'GITHUB_MAX_RETRIES is "6" in env of agent github, which the service refuses: it must be a whole number, at least 0, at most 5.',
    ),
    "a choice that is none, of every pod": (
        {"defaults": {"env": {"LOG_LEVEL": "LOUD"}}},
        'LOG_LEVEL is "LOUD" in defaults.env, which the service refuses: it must be DEBUG, INFO, WARNING or ERROR.',
    ),
    "a switch of the supervisor": (
        {"supervisor": {"env": {"SHOW_REASONING": "maybe"}}},
        'SHOW_REASONING is "maybe" in supervisor.env, which the service refuses: it must be true or false.',
    ),
    "half of what is whole": (
        {"settings": {"MAX_CONCURRENT_TURNS": 1.5}},
        'MAX_CONCURRENT_TURNS is "1.5" in settings, which the service refuses: it must be a whole number, above 0.',
    ),
    "a way of knowing callers that there is not": (
        {"settings": {"AUTH_MODE": "apikey"}},
        'AUTH_MODE is "apikey" in settings, which the service refuses: it must be none, api-key or oidc.',
    ),
    "an address without a scheme": (
        {"agents": [{**GITHUB, "env": {"GITHUB_API_URL": "github.example.com"}}]},
        "it must be a text that matches ^https?://",
    ),
}


@pytest.mark.parametrize("case", ONE_EACH)
def test_a_refusal_names_the_setting_its_value_where_it_stands_and_what_is_allowed(helm: Helm, case: str):
    values, sentence = ONE_EACH[case]
    assert sentence in helm.refusal(values)


def test_every_wrong_value_is_named_at_once_and_once(helm: Helm):
    said = helm.refusal({"settings": {"RETENTION_DAYS": "30d", "LOG_FORMAT": "xml"}})
    assert sorted(name for name, _, _ in REFUSED.findall(said)) == ["LOG_FORMAT", "RETENTION_DAYS"]


FREE: dict[str, Values] = {
    "a setting of an agent of one's own": {"agents": [{"name": "jira", "port": 8003, "env": {"JIRA_DAYS": "30d"}}]},
    "a name that is nearly a setting": {"settings": {"RETENTION_DAY": "30d"}},
    "a setting of an agent that is not there": {"settings": {"RAG_CHUNK_TOKENS": "many"}, "agents": [GITHUB]},
    "a setting with a name of ours in another image": {
        "agents": [GITHUB, {"name": "jira", "port": 8003, "image": "jira:2", "env": {"LOG_LEVEL": "verbose"}}]
    },
    "a value that a secret replaces": {
        "settings": {"RETENTION_DAYS": "from the secret"},
        "secrets": {"values": {"RETENTION_DAYS": "30"}},
    },
    "a value that every pod has and one has not": {
        "settings": {"MAX_WAITING_TURNS": 5},
        "agents": [{**GITHUB, "env": {"MAX_WAITING_TURNS": ""}}],
    },
    "a value that the chart replaces": {"settings": {"WEB_PAGE": "as told"}, "defaults": {"web": {"enabled": False}}},
}  # fmt: skip


@pytest.mark.parametrize("case", FREE)
def test_what_the_chart_cannot_know_is_not_refused(helm: Helm, case: str):
    assert helm.render(FREE[case])


AS_WRITTEN = """\
  MAX_BODY_BYTES: 10000000
  RAG_MAX_FILE_BYTES: 1e7
  SUB_AGENT_MAX_ANSWER_BYTES: 1_000_000
  RETENTION_TASKS_MB: 1e21
  RETENTION_DAYS: 30.50
  CONTEXT_SUMMARISE_AT: 0.00001
  SHOW_REASONING: yes
  LLM_CHECK: off
  LONG_TERM_MEMORY: off
  MAX_WAITING_TURNS: 0
  LLM_MAX_OUTPUT_TOKENS: ''
  LLM_TEMPERATURE:
  LLM_MODEL: '1e3'
  GITHUB_APP_ID: 123456789012
  OWN_NUMBER: 9223372036854775807
"""
RECEIVED = {
    "MAX_BODY_BYTES": "10000000",
    "RAG_MAX_FILE_BYTES": "10000000",
    "SUB_AGENT_MAX_ANSWER_BYTES": "1000000",
    "RETENTION_TASKS_MB": "1000000000000000000000",
    "RETENTION_DAYS": "30.5",
    "CONTEXT_SUMMARISE_AT": "1e-05",
    "SHOW_REASONING": "true",
    "LLM_CHECK": "false",
    "LONG_TERM_MEMORY": "false",
    "MAX_WAITING_TURNS": "0",
    "LLM_MAX_OUTPUT_TOKENS": "",
    "LLM_MODEL": "1e3",
    "GITHUB_APP_ID": "123456789012",
    "OWN_NUMBER": "9223372036854775808",  # the nearest number that a values file can hold: more than 15 digits want quotes
}


def _indented(spaces: int) -> str:
    return "".join(f"{' ' * spaces}{line}\n" for line in AS_WRITTEN.splitlines())


LEVELS = {
    "settings": f"settings:\n{AS_WRITTEN}",
    "defaults": f"defaults:\n  env:\n{_indented(2)}",
    "supervisor": f"supervisor:\n  env:\n{_indented(2)}",
    "agents": f"agents:\n- name: github\n  port: 8001\n  env:\n{_indented(2)}",
}


def _environments(helm: Helm, file: Path, text: str, *options: str) -> dict[str, dict[str, str]]:
    """The ConfigMap of each component, of values as they are written in a file."""
    file.write_text(text, "utf-8")
    done = helm.run("template", "first", str(CHART), "-f", str(file), *options)
    assert done.returncode == 0, done.stderr
    manifests: list[Manifest] = [one for one in yaml.load_all(done.stdout, yaml.CSafeLoader) if one]
    label = "app.kubernetes.io/component"
    return {one["metadata"]["labels"][label]: one["data"] for one in of_kind(manifests, "ConfigMap").values()}


@pytest.mark.parametrize("level", LEVELS)
def test_a_value_reaches_the_pod_as_its_class_reads_it_wherever_it_is_written(
    helm: Helm, level: str, tmp_path: Path
):
    component = "github" if level == "agents" else "supervisor"
    environ = _environments(helm, tmp_path / "values.yaml", LEVELS[level])[component]
    assert {name: environ[name] for name in RECEIVED} == RECEIVED
    assert "LLM_TEMPERATURE" not in environ
    assert _wrong(environ) == set()


@pytest.mark.parametrize("key", ["settings.{}", "defaults.env.{}", "supervisor.env.{}"])
@pytest.mark.parametrize("way", ["--set", "--set-string", "--set-json"])
def test_a_large_number_reaches_the_pod_by_every_option_of_helm(
    helm: Helm, key: str, way: str, tmp_path: Path
):
    options = (way, f"{key.format('MAX_BODY_BYTES')}=123456789")
    environ = _environments(helm, tmp_path / "values.yaml", "{}", *options)["supervisor"]
    assert environ["MAX_BODY_BYTES"] == "123456789"


def test_null_takes_away_what_another_file_or_every_pod_sets(helm: Helm, tmp_path: Path):
    over = tmp_path / "over.yaml"
    over.write_text(
        "settings: {RETENTION_DAYS: }\n"
        "defaults: {env: }\n"
        "supervisor: {env: }\n"
        "agents: [{name: github, port: 8001, env: {MAX_WAITING_TURNS: }}, {name: rag, port: 8002, env: }]\n"
    )
    first = "settings: {RETENTION_DAYS: 30, MAX_WAITING_TURNS: 5}\n"
    found = _environments(helm, tmp_path / "first.yaml", first, "-f", str(over))
    assert all("RETENTION_DAYS" not in environ for environ in found.values())
    told = {name: environ.get("MAX_WAITING_TURNS") for name, environ in found.items()}
    assert told == {"supervisor": "5", "github": None, "rag": "5"}
    assert {environ["LOG_FORMAT"] for environ in found.values()} == {"json"}


def test_null_is_no_secret_in_the_clear_and_nothing_that_is_set_by_hand(helm: Helm):
    assert helm.render(
        {"settings": dict.fromkeys(("OPENAI_API_KEY", "PORT", "ENCRYPTION_KEYS_FILE", "GRPC_PORT"))}
    )
