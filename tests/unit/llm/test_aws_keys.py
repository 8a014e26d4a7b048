"""AWS keys that stand only in a `.env` file reach Amazon Bedrock."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_aws import ChatBedrockConverse

from utils.embeddings import create_embedder
from utils.errors import SettingsError
from utils.llm.factory import create_chat_model
from utils.settings import EmbeddingSettings, LLMSettings, process_environment
from utils.testing.strict_provider import Reply

HERE = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE")


@pytest.fixture
def no_keys(monkeypatch, tmp_path):
    """A machine on which AWS' own library finds nothing."""
    for name in HERE:
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)


@pytest.mark.listens
async def test_a_chat_on_bedrock_is_signed_with_the_keys_of_a_file(double, no_keys, tmp_path, monkeypatch):
    given = double.environment("aws-bedrock") | {
        "AWS_ACCESS_KEY_ID": "AKIAOFTHEFILE", "AWS_SESSION_TOKEN": "token-of-the-file",
    }  # fmt: skip
    (tmp_path / ".env").write_text("".join(f"{name}={value}\n" for name, value in given.items()))
    double.reset(lambda _: Reply("Hello."))
    monkeypatch.chdir(tmp_path)
    model = create_chat_model(LLMSettings.load(process_environment()))

    answer = await model.ainvoke("Hi")

    assert answer.text == "Hello."
    assert not double.rejections
    assert isinstance(model, ChatBedrockConverse)
    used = model.client._request_signer._credentials
    assert (used.access_key, used.token) == ("AKIAOFTHEFILE", "token-of-the-file")
    double.reset()


@pytest.mark.parametrize(
    ("given", "missing"),
    [("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), ("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID")],
)
def test_half_a_key_is_told_at_start(given, missing, no_keys):
    region = {"AWS_REGION": "eu-central-1", given: "half"}
    chat = {"LLM_PROVIDER": "aws-bedrock", "LLM_MODEL": "anthropic.claude-sonnet-4-5-20250929-v1:0"}
    with pytest.raises(SettingsError, match=f"Set {missing}: {given} needs it"):
        create_chat_model(LLMSettings.load(chat | region))
    with pytest.raises(SettingsError, match=f"Set {missing}: {given} needs it"):
        create_embedder(EmbeddingSettings.load({"EMBEDDINGS_PROVIDER": "aws-bedrock"} | region), cache=None)


def test_embeddings_on_bedrock_get_the_keys_too(no_keys):
    keys = {"AWS_ACCESS_KEY_ID": "AKIAOFTHEFILE", "AWS_SECRET_ACCESS_KEY": "double"}
    settings = {"EMBEDDINGS_PROVIDER": "aws-bedrock", "AWS_REGION": "eu-central-1"} | keys
    embedder: Any = create_embedder(EmbeddingSettings.load(settings), cache=None)
    client = embedder._inner._client.client  # the client of AWS' own library
    assert client._request_signer._credentials.access_key == "AKIAOFTHEFILE"
