"""Reading as an installation of a GitHub App."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from agents.github.app import check_app
from agents.github.client import GitHubClient
from agents.github.settings import GitHubSettings
from agents.github.testing.server import run_github_server
from utils.errors import SettingsError


@cache
def pem() -> bytes:
    """A key, which takes a tenth of a second to make."""
    return generate_private_key(65537, 2048).private_bytes(
        Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()
    )


def key_in(folder: Path) -> str:
    (folder / "app.pem").write_bytes(pem())
    return str(folder / "app.pem")


@pytest.mark.listens
async def test_an_installation_reads_with_tokens_of_its_own_and_asks_for_one_once(tmp_path: Path) -> None:
    app = {
        "GITHUB_APP_ID": "7",
        "GITHUB_APP_INSTALLATION_ID": "41",
        "GITHUB_APP_KEY_FILE": key_in(tmp_path),
    }
    with run_github_server(pulls=1) as double:
        settings = GitHubSettings.load({"GITHUB_API_URL": double.url, **app})
        check_app(settings)
        client = GitHubClient(settings)
        assert client.has_token
        for _ in range(2):
            await client.get("repos/octocat/hello-world", "repository octocat/hello-world")
        await client.stop()
    asked, *reads = double.recorder.requests
    assert asked.path == "/app/installations/41/access_tokens"
    tokens = {each.headers["authorization"] for each in reads}
    assert len(reads) == 2
    assert tokens == {f"token {token}" for token in double.accounts.tokens}


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({}, "GITHUB_APP_KEY_FILE"),
        ({"GITHUB_APP_KEY_FILE": "/nowhere.pem"}, "GITHUB_APP_INSTALLATION_ID"),
        ({"GITHUB_APP_KEY_FILE": "/nowhere.pem", "GITHUB_APP_INSTALLATION_ID": "1"}, "no private key"),
        (
            {
                "GITHUB_APP_KEY_FILE": "/nowhere.pem",
                "GITHUB_APP_INSTALLATION_ID": "1",
                "GITHUB_TOKEN": "x",
            },
            "not both",
        ),
    ],
)
def test_what_an_app_lacks_is_named_before_anything_is_read(settings: dict[str, str], named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        check_app(GitHubSettings.load({"GITHUB_APP_ID": "7", **settings}))
