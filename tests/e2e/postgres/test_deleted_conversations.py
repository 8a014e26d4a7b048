"""What a person deletes is gone from the tables, and from their files after a vacuum."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.conversations.asking import asked, files_with
from tests.e2e.observability.scrape import samples, scraped
from tests.postgres import PostgresServer
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.xdist_group("postgres"),
]

SECRET = "deleted-zanzibar-4711"


async def test_a_deleted_conversation_is_in_no_table_and_after_a_vacuum_in_no_file(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    url = postgres.new_database()
    model = ScriptedModel(script=[calls(call("lookup", key=SECRET)), f"{SECRET} is 1.", "Hi."])
    environ = {"DATABASE_URL": url}
    async with (
        running_agent(Keys, home=tmp_path, model=model, environ=environ) as agent,
        connected(agent) as client,
    ):
        context_id = (await ask(client, f"What is {SECRET}?")).context_id
        other = (await ask(client, "Stay.")).context_id
        await asked(client, action="rename", contextId=context_id, title=f"About {SECRET}")
        listed = (await asked(client, action="list"))["conversations"]
        assert {each["contextId"]: each["title"] for each in listed} == {
            context_id: f"About {SECRET}",
            other: "",
        }
        (task,) = (await asked(client, action="export", contextId=context_id))["tasks"]
        assert SECRET in str(task)
        sizes = {
            dict(labels)["kind"] for name, labels in samples(await scraped(agent)) if name == "stored_bytes"
        }
        assert {"tasks", "checkpoints", "titles"} <= sizes
        postgres.execute("CHECKPOINT", url)
        assert files_with(postgres.files_of(url), SECRET)
        told = await asked(client, action="delete", contextId=context_id)
        assert (told["deleted"], told["tasks"], told["kept"]) == (True, 1, [])
        (left,) = (await asked(client, action="list"))["conversations"]
        assert left["contextId"] == other
    postgres.execute("VACUUM FULL", url)
    postgres.execute("CHECKPOINT", url)
    assert files_with(postgres.files_of(url), SECRET) == []
    assert files_with(tmp_path, SECRET) == []
