"""The data folder and the settings file of an earlier version serve this one as they are."""

from __future__ import annotations

from asyncio.subprocess import Process
from collections.abc import Mapping
from pathlib import Path

import pytest
from dotenv import dotenv_values

from agents.github.testing.server import run_github_server
from benchmarks.service.client import COMPLETED, Talk, answer_of, http_client
from benchmarks.service.doors import call
from tests.e2e.cli import command
from tests.e2e.upgrade.home import ANSWER, DATA, DOCUMENTS, SETTINGS, service_on, unpack
from utils.settings_docs import COMPOSE
from utils.settings_index import groups_in, names_of, shared_groups

HOMES = sorted((Path(__file__).parent / "homes").glob("*.zip"))

every_home = pytest.mark.parametrize("archive", HOMES, ids=lambda path: path.stem)


async def start(arguments: tuple[str, ...], folder: Path, environ: Mapping[str, str]) -> Process:
    return await command.start(*arguments, home=folder, **environ)


@every_home
def test_every_setting_of_the_version_before_is_one_of_this_version(archive: Path, tmp_path: Path) -> None:
    unpack(archive, tmp_path)
    packages = ("multi_agents.platform_engineer", "agents.github", "agents.rag")
    groups = [*shared_groups(), *(group for package in packages for group in groups_in(package))]
    assert set(dotenv_values(tmp_path / SETTINGS)) - names_of(groups) - set(COMPOSE) == set()


@every_home
@pytest.mark.processes
@pytest.mark.long
async def test_the_whole_folder_of_the_version_before_is_taken_over_with_its_configuration(
    archive: Path, tmp_path: Path
) -> None:
    kept = unpack(archive, tmp_path)
    answered, asked = kept["answered"], kept["asked"]
    assert (tmp_path / SETTINGS).read_text(), "every default of that version, set as it was"
    with run_github_server() as github:
        ingested = await command.run(
            "ingest", DOCUMENTS, home=tmp_path, PLATFORM_ENGINEER_HOME=str(tmp_path / DATA)
        )
        assert ingested.code == 0
        assert " 0 removed" in ingested.out
        assert "0 added" in ingested.out, "the index knows its documents"
        async with service_on(tmp_path, start, github.url) as url, http_client() as http:
            for one in (answered, asked):
                task = (await call(http, url, "GetTask", {"id": one["task"]}))["result"]
                assert (task["status"]["state"], answer_of(task)) == (COMPLETED, one["text"])
            listed = await command.run("conversations", "list", "--url", url, home=tmp_path)
            assert answered["context"] in listed.out
            assert asked["context"] in listed.out
            further = await Talk(http, url, 60, context_id=answered["context"]).send("And who hands it over?")
            assert ANSWER in further.stored
            completed = await Talk(http, url, 60, context_id=asked["context"]).send("octocat/hello-world")
            assert completed.state == COMPLETED
            assert "octocat/hello-world" in completed.stored
    logs = [path.read_text() for path in (tmp_path / DATA / "logs").glob("*.log")]
    assert logs
    assert not [line for log in logs for line in log.splitlines() if '"level": "error"' in line]
