"""`new-agent` makes an agent that is complete, once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from multi_agents.cli.commands.new_agent import draft
from multi_agents.cli.errors import UsageError
from multi_agents.cli.scaffold.names import checked_name
from tests.e2e.new_agent.copies import command, copy_of_the_checkout, environment
from tests.lent import LentFolder
from tests.preloaded import process as preloaded
from utils.a2a_common.client.agents.agents_file import load_agents_file


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> LentFolder:
    return LentFolder(copy_of_the_checkout(tmp_path_factory.mktemp("checkout")))


@pytest.fixture
def checkout(copied: LentFolder) -> Iterator[Path]:
    yield copied.folder
    copied.restore()


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and ".data" not in path.parts
    }


def test_one_command_makes_an_agent_that_passes_its_tests_and_is_listed_everywhere(checkout):
    before = snapshot(checkout)
    made = command(checkout, "new-agent", "try_out")
    assert made.returncode == 0, made.stderr
    assert "Note:" not in made.stderr

    after = snapshot(checkout)
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {
        ".env.example", "agents/agents.yaml", "docker-compose.yaml", "docs/configuration.md",
        "helm/platform-engineer/values.yaml", "helm/platform-engineer/setting-values.yaml",
        "agents/rag/ingest/shipped_vectors.txt",
    }  # fmt: skip
    rules = yaml.safe_load(after["helm/platform-engineer/setting-values.yaml"])["settings"]
    pods = yaml.safe_load(after["helm/platform-engineer/values.yaml"])["agents"]
    assert {rule["of"] for rule in rules if "TRY_OUT" in rule["name"]} == {pods[-1]["name"]}
    table = (checkout / "docs" / "add-an-agent.md").read_text("utf-8").partition("## 2.")[0]
    assert [name for name in changed if f"`{name}`" not in table] == [], (
        "the page lists what the command changes"
    )
    check = ("-m", "agents.rag.ship_vectors", "--check")
    vectors = preloaded.run(check, cwd=checkout, env=environment(checkout), timeout=280)
    assert vectors.returncode == 0, vectors.stdout  # the shipped tests of the checkout hold the same
    added = {name for name in after if name not in before}
    assert "agents/try_out/agent.py" in added
    assert all(name.startswith(("agents/try_out/", "tests/unit/agents/try_out/")) for name in added)
    assert not any(b"template" in after[name].lower() for name in added)

    its_tests = ("-m", "pytest", "tests/unit/agents/try_out", "-c", "pyproject.toml")
    tested = preloaded.run(its_tests, cwd=checkout, env=environment(checkout), timeout=280)
    assert tested.returncode == 0, tested.stdout
    again = command(checkout, "new-agent", "try-out")
    assert again.returncode == 2
    assert "already; nothing was changed" in again.stderr
    assert {name: text for name, text in snapshot(checkout).items() if name in after} == after


@pytest.mark.long
def test_each_list_says_the_same_port_and_keeps_its_comments(checkout):
    name = checked_name("try-out")
    made = draft(name, checkout)
    texts = {file.path.name: text for file, text in made.changed}
    for file, text in made.changed:
        lines = iter(text.splitlines())
        kept = [
            line
            for line in file.text.splitlines()
            if "FOREIGN_AGENTS" not in line and "SUB_AGENTS_TRUST" not in line
        ]
        assert all(line in lines for line in kept), f"{file.path.name} lost a line"
    listed = yaml.safe_load(texts["agents.yaml"])["try-out"]
    assert listed == {"module": "agents.try_out", "port": made.port}
    compose = yaml.safe_load(texts["docker-compose.yaml"])
    service = compose["services"]["try-out"]
    assert service["environment"]["PORT"] == made.port
    assert service.keys() == compose["services"]["github"].keys()
    assert service["environment"].keys() == compose["services"]["github"]["environment"].keys()
    assert (
        f"try-out=http://try-out:{made.port}"
        in compose["services"]["supervisor"]["environment"]["SUB_AGENTS"]
    )
    told = compose["services"]["supervisor"]["environment"]["SUB_AGENTS_SHARES"]
    assert told.endswith(",try-out=results")
    assert compose["services"]["supervisor"]["environment"]["SUB_AGENTS_TRUST"].endswith(",try-out=own")
    assert "try-out" in compose["services"]["supervisor"]["depends_on"]
    assert "try-out" in compose["volumes"]
    scaled = compose["services"]["scaled-try-out"]
    assert scaled.keys() == compose["services"]["scaled-github"].keys()
    assert scaled["environment"].keys() == compose["services"]["scaled-github"]["environment"].keys()
    for supervisor in (compose["services"][each] for each in ("supervisor-1", "supervisor-2")):
        environment = supervisor["environment"]
        assert environment["SUB_AGENTS"].endswith(f",try-out=http://scaled-try-out:{made.port}")
        assert environment["SUB_AGENTS_SHARES"].endswith(",try-out=results")
        assert environment["SUB_AGENTS_TRUST"].endswith(",try-out=own")
        assert supervisor["depends_on"]["scaled-try-out"] == {"condition": "service_healthy"}
    assert yaml.safe_load(texts["values.yaml"])["agents"][-1] == {"name": "try-out", "port": made.port}


@pytest.mark.long
def test_the_port_is_the_first_that_no_agent_has(checkout):
    list_of_agents = checkout / "agents" / "agents.yaml"
    taken = {entry.port for entry in load_agents_file(list_of_agents)}
    made = draft(checked_name("try-out"), checkout)
    assert made.port == min(set(range(8001, 8100)) - taken)
    assert f"_PORT = {made.port}\n" in made.created[checkout / "agents" / "try_out" / "__main__.py"]


@pytest.mark.long
def test_windows_line_ends_survive(checkout):
    paths = [
        checkout / name
        for name in ("agents/agents.yaml", "docker-compose.yaml", "helm/platform-engineer/values.yaml",
                     "docs/configuration.md", ".env.example")
    ]  # fmt: skip
    for path in paths:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert command(checkout, "new-agent", "try-out").returncode == 0
    for path in paths:
        text = path.read_bytes()
        assert b"try-out" in text.lower()
        assert text.count(b"\r\n") == text.count(b"\n")


def test_a_checkout_without_compose_and_chart_is_told_so(checkout):
    (checkout / "docker-compose.yaml").unlink()
    (checkout / "helm" / "platform-engineer" / "values.yaml").write_text("agents: none\n")
    made = draft(checked_name("try-out"), checkout)
    assert [file.path.name for file, _ in made.changed] == ["agents.yaml"]
    assert "docker-compose.yaml is not here" in made.notes[0]
    assert "values.yaml was left as it is" in made.notes[1]


@pytest.mark.parametrize("folder", ["agents/try_out", "tests/unit/agents/try_out"])
def test_a_folder_that_exists_is_not_written_into(checkout, folder):
    (checkout / folder).mkdir()
    with pytest.raises(UsageError, match="exists already; nothing was changed"):
        draft(checked_name("try-out"), checkout)


@pytest.mark.parametrize(
    "name",
    ["q-b", *(pytest.param(name, marks=pytest.mark.long) for name in ("x9", "q" * 32, "q-" * 15 + "qb"))],
)
def test_what_is_made_is_formatted_and_passes_the_linter_whatever_its_name(checkout, name):
    made = draft(checked_name(name), checkout)
    for path, text in made.created.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    ruff = str(Path(sys.executable).parent / "ruff")
    folders = sorted({str(path.parent) for path in made.created if path.suffix == ".py"})
    for check in (("format", "--check"), ("check",)):
        line = [ruff, *check, "--no-cache", *folders]
        done = subprocess.run(line, cwd=checkout, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
