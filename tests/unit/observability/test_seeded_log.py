"""A log of a thousand lines, each with a secret of one of many kinds: none of them is written."""

from __future__ import annotations

import json
import random
import string
import time
from collections.abc import Callable

import structlog

from tests.unit.observability.test_redaction import Lines, lines  # noqa: F401 - a fixture
from utils.auth.api_keys import ApiKey, new_key
from utils.auth.service_tokens import Signer, new_private_key
from utils.observability.redaction import redact_text, secret_variables, secrets_of

LETTERS, LOWER, HEX = (
    string.ascii_letters + string.digits,
    string.ascii_lowercase + string.digits,
    "0123456789abcdef",
)
UPPER = string.ascii_uppercase + string.digits
CHANCE = random.Random(7)


def some(alphabet: str, length: int) -> str:
    return "".join(CHANCE.choices(alphabet, k=length))


def form(start: str, alphabet: str, length: int, end: str = "") -> Callable[[], str]:
    return lambda: start + some(alphabet, length) + end


KINDS: dict[str, Callable[[], str]] = {
    "GitHub": form("ghp_", LETTERS, 36),
    "GitHub of a user": form("gho_", LETTERS, 36),
    "GitHub fine-grained": form("github_pat_", LETTERS, 60),
    "GitLab": form("glpat-", LETTERS, 20),
    "GitLab runner": form("glrt-", LETTERS, 20),
    "OpenAI": form("sk-proj-", LETTERS, 48),
    "Anthropic": form("sk-ant-api03-", LETTERS, 90),
    "Groq": form("gsk_", LETTERS, 52),
    "Stripe": form("sk_live_", LETTERS, 24),
    "AWS": form("AKIA", UPPER, 16),
    "Google": form("AIza", LETTERS, 35),
    "Google client": form("GOCSPX-", LETTERS, 28),
    "Google access": form("ya29.", LETTERS, 60),
    "Slack": form("xoxb-123456789012-", LETTERS, 24),
    "Slack app": form("xapp-1-A0123456789-1234567890123-", HEX, 64),
    "Slack webhook": form("https://hooks.slack.com/services/T0000000/B0000000/", LETTERS, 24),
    "npm": form("npm_", LETTERS, 36),
    "PyPI": form("pypi-AgEIcHlwaS5vcmc", LETTERS, 60),
    "Hugging Face": form("hf_", LETTERS, 34),
    "Vault": form("hvs.", LETTERS, 90),
    "SendGrid": lambda: f"SG.{some(LETTERS, 22)}.{some(LETTERS, 43)}",
    "DigitalOcean": form("dop_v1_", HEX, 64),
    "Grafana": lambda: f"glsa_{some(LETTERS, 32)}_{some(HEX, 8)}",
    "Linear": form("lin_api_", LETTERS, 40),
    "Atlassian": form("ATATT3xFfGF0", LETTERS, 60, "=1A2B3C4D"),
    "age": form("AGE-SECRET-KEY-1", UPPER, 58),
    "Docker": form("dckr_pat_", LETTERS, 27),
    "JSON web token": lambda: f"eyJ{some(LETTERS, 20)}.eyJ{some(LETTERS, 40)}.{some(LETTERS, 43)}",
    "private key": lambda: (
        f"-----BEGIN EC PRIVATE KEY-----\n{some(LETTERS, 64)}\n-----END EC PRIVATE KEY-----"
    ),
    "New Relic": form("NRAK-", UPPER, 27),
    "Databricks": form("dapi", HEX, 32),
    "Telegram": lambda: f"{some('123456789', 10)}:AA{some(LETTERS, 33)}",
    "Shopify": form("shpat_", HEX, 32),
    "Azure storage": form("AccountKey=", LETTERS, 86, "=="),
    "our API key": lambda: new_key(ApiKey("ann", "", ()))[0],
    "our service token": lambda: Signer(new_private_key(), "top").token("github", "ann"),
}
FRAMES = (
    "{}",
    "refused {} for this request",
    "a={}&b=1",
    '{{"value": "{}", "next": 1}}',
    "Error('{}',)",
    "GET https://api.example.com/?q={} 401",
    "[{}]",
    r'{{"body": "{{\"x\": \"{}\"}}"}}',
)
WORD = "correct horse"
NAMED = (
    ("Authorization: Token {}", "b8Xq2"),
    ("{{'authorization': 'Token {}'}}", "b8Xq2"),
    ("Cookie: theme=dark; session={}", "b8Xq2"),
    ('password="{}"', WORD),
    ("PGPASSWORD='{}'", WORD),
    ("pwd={}", "hunter22"),
    ("pass={}", "hunter22"),
    ("passphrase: {}", "hunter22"),
    (r'{{"a": "{{\"refresh_token\":\"{}\"}}"}}', "abcdef12"),
    ("https://x.blob.core.windows.net/c?sv=2024&sig={}&se=1", "abcdefgh%3D"),
    ("mongodb://ann:{}@db:27017", "p@ss@w0rd"),
    ("Endpoint=sb://x/;SharedAccessKey={};Entity=y", "abcdefgh+/="),
    ("client_secret={}", "hunter22"),
    ("X-Api-Key: {}", "hunter22"),
    ("Set-Cookie: a={}; Path=/", "hunter22"),
    ('Authorization: Digest username="ann", response="{}"', "0a1b2c3d"),
)


def test_of_a_thousand_lines_with_secrets_of_over_thirty_kinds_none_tells_one(lines: Lines) -> None:  # noqa: F811
    log, written = structlog.get_logger("utils.test"), []
    for number in range(1_000):
        kind = list(KINDS)[number % len(KINDS)]
        secret = KINDS[kind]()
        text = CHANCE.choice(FRAMES).format(secret)
        shape = number % 4
        if shape == 0:
            log.warning("x", text=text)
        elif shape == 1:
            log.warning("x", deep={"rows": [{"text": text}, 1]})
        elif shape == 2:
            log.warning(text)
        else:
            try:
                raise ValueError(text)
            except ValueError:
                log.exception("x")
        written.append((kind, secret.removeprefix("AccountKey=").removeprefix("https://hooks.slack.com/")))
    found = lines()
    assert len(found) == 1_000
    log_text = json.dumps(found)
    told = [kind for kind, secret in written if json.dumps(secret)[1:-1] in log_text]
    assert told == []
    assert len(KINDS) > 30


def test_what_only_its_surroundings_show_is_hidden_whole() -> None:
    for frame, secret in NAMED:
        hidden = redact_text(frame.format(secret))
        assert not any(word in hidden for word in (secret, *secret.split())), (frame, hidden)


def test_a_setting_is_secret_by_its_type_whatever_its_name() -> None:
    from agents.github.settings import GitHubSettings

    assert GitHubSettings.model_fields["oauth_keys"].alias in secret_variables()
    environ = {
        "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=0123456789,x-auth=abcdefghij",
        "GITHUB_OAUTH_KEYS": "first-long-key,second-long-key",
        "AUTH_SERVICE_KEY": '{"kty": "EC", "d": "private-half"}',
    }
    expected = {"abcdefghij", "0123456789", "first-long-key", "second-long-key", "private-half"}
    assert expected <= set(secrets_of(environ))


def test_ids_and_digests_and_plain_words_stay() -> None:
    for text in (
        "task ad02c65f-84c4-5ec9-9175-38824475661a of trace ed85299292456ced7bceeca5fdd27143",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "risk-assessment-of-the-whole-release",
        "The token is counted; 3 tests pass: all of them.",
        "http://localhost:8000/rest and mail to ann@example.com",
    ):
        assert redact_text(text) == text


def test_hostile_text_takes_no_longer_than_twice_its_length_would() -> None:
    for piece in (
        "input_value=",
        "password='",
        'cookie: "',
        "://a:",
        "token",
        "SG.",
        "eyJ.",
        '\\"secret\\":\\"',
    ):
        begun = time.process_time()
        redact_text(piece * 20_000)
        assert time.process_time() - begun < 1.5, piece
