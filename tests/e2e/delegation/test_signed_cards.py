"""Cards of agents that must be signed: one that is not makes its agent one that cannot be asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from a2a.types import AgentCard
from a2a.utils.signing import ProtectedHeader, create_agent_card_signer
from joserfc.jwk import ECKey, KeyParameters, OctKey, RSAKey
from jwt import PyJWK

from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.foreign import answering, foreign
from tests.e2e.delegation.teams import model, supervising
from utils.a2a_common.client.agents.card_keys import card_checks
from utils.errors import SettingsError
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

Sign = Callable[[AgentCard], object]


def made(kid: str | None, kind: str = "EC") -> ECKey | RSAKey:
    options: KeyParameters = {"kid": kid} if kid else {}
    return ECKey.generate_key("P-256", options) if kind == "EC" else RSAKey.generate_key(2048, options)


def signing(key: ECKey | RSAKey, *, kid: str | None = None, algorithm: str = "ES256") -> Sign:
    private = PyJWK.from_dict(key.as_dict(private=True), algorithm)
    header: dict[str, Any] = {"alg": algorithm, "typ": "JOSE", **({"kid": kid} if kid else {})}
    return create_agent_card_signer(private, cast("ProtectedHeader", header))


def written(path: Path, *keys: ECKey | RSAKey) -> str:
    path.write_text(json.dumps({"keys": [key.as_dict(private=False) for key in keys]}))
    return str(path)


def then_changed(sign: Sign) -> Sign:
    def both(card: AgentCard) -> None:
        sign(card)
        card.description = "Also takes passwords."

    return both


def twice(first: Sign, second: Sign) -> Sign:
    return lambda card: (first(card), second(card))


OLD, NEW, OTHERS = made("old"), made("new"), made("new")


@pytest.mark.parametrize(
    ("sign", "asked"),
    [
        pytest.param(signing(NEW, kid="new"), True, id="signed"),
        pytest.param(
            twice(signing(OTHERS, kid="new"), signing(OLD, kid="old")), True, id="one-of-two-is-right"
        ),
        pytest.param(lambda _card: None, False, id="not-signed"),
        pytest.param(signing(OTHERS, kid="new"), False, id="by-another-key"),
        pytest.param(signing(NEW, kid="old"), False, id="under-another-id"),
        pytest.param(signing(NEW), False, id="without-an-id"),
        pytest.param(then_changed(signing(NEW, kid="new")), False, id="changed-afterwards"),
    ],
)
async def test_an_agent_whose_card_is_not_signed_by_its_keys_is_not_asked(
    sign: Sign, asked: bool, tmp_path: Path
) -> None:
    supervisor = model([calls(call("weather", request="Is it sunny?")), "So it is."])
    keys = written(tmp_path / "keys.json", OLD, NEW)
    settings = {"SUB_AGENTS_CARD_KEYS": f"weather={keys}", "SUB_AGENT_WAIT_SECONDS": "0"}
    async with (
        foreign(answering("Sunny."), sign=sign) as elsewhere,
        supervising({"weather": elsewhere.url}, supervisor, settings) as url,
        connected(url) as client,
    ):
        await ask(client, "Is it sunny?")
    assert bool(elsewhere.messages) is asked


async def test_a_card_that_was_stored_is_checked_again_with_the_keys_of_now(tmp_path: Path) -> None:
    keys, home = tmp_path / "keys.json", tmp_path / "home"
    settings = {"SUB_AGENTS_CARD_KEYS": f"weather={keys}", "SUB_AGENT_WAIT_SECONDS": "0"}
    async with foreign(answering("Sunny."), sign=signing(NEW, kid="new")) as elsewhere:
        for key, asked in ((NEW, 1), (OTHERS, 1)):
            written(keys, key)
            supervisor = model([calls(call("weather", request="Is it sunny?")), "So it is."])
            async with (
                supervising({"weather": elsewhere.url}, supervisor, settings, home) as url,
                connected(url) as client,
            ):
                await ask(client, "Is it sunny?")
            assert len(elsewhere.messages) == asked


def test_one_key_needs_no_id_and_rsa_is_taken(tmp_path: Path) -> None:
    key, card = made(None, "RSA"), AgentCard(name="weather")
    signing(key, algorithm="PS256")(card)
    path = tmp_path / "key.json"
    path.write_text(json.dumps({**key.as_dict(private=False), "alg": "PS256"}))
    assert card_checks(f"weather={path}", {"weather"})["weather"](card)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is no set of JSON Web Keys"),
        ("[]", "is no set of JSON Web Keys"),
        ('{"keys": []}', "needs keys"),
        (json.dumps({"keys": [OLD.as_dict(private=True)]}), "holds a secret"),
        (json.dumps({"keys": [OctKey.generate_key(256).as_dict(private=True)]}), "holds a secret"),
        (
            json.dumps({"keys": [NEW.as_dict(private=False), OTHERS.as_dict(private=False)]}),
            "for each of several",
        ),
    ],
    ids=["empty", "list", "no-keys", "private", "symmetric", "same-id"],
)
def test_a_file_without_public_keys_is_refused_at_the_start(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "keys.json"
    path.write_text(text)
    with pytest.raises(SettingsError, match=why) as refused:
        card_checks(f"weather={path}", {"weather"})
    assert str(tmp_path) not in refused.value.message


@pytest.mark.parametrize("value", ["weather", "weather=", "other=keys.json", "weather=nowhere.json"])
def test_a_pair_that_names_no_agent_or_no_file_is_refused_at_the_start(value: str) -> None:
    with pytest.raises(SettingsError, match="SUB_AGENTS_CARD_KEYS"):
        card_checks(value, {"weather"})
