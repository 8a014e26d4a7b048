"""`doctor` looks at the certificate that an agent would be served with, as a start does."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.certificates import Authority
from tests.e2e.cli.command import run, run_agent

PAIR = ("TLS_CERT_FILE", "TLS_KEY_FILE")


def wrong_files(folder: Path) -> dict[str, dict[str, str]]:
    """Settings with which no agent can be served, by what is wrong with them."""
    authority = Authority()
    certificate, key = authority.issue("one").files(folder, "one")
    _, other = authority.issue("other").files(folder, "other")
    text = folder / "text.pem"
    text.write_text("no certificate")
    good = dict(zip(PAIR, (certificate, key), strict=True))
    return {
        "the key of another certificate": {**good, "TLS_KEY_FILE": other},
        "a file that is not there": {**good, "TLS_CERT_FILE": str(folder / "none.pem")},
        "a certificate without its key": {"TLS_CERT_FILE": certificate},
        "a text": {**good, "TLS_CERT_FILE": str(text)},
        "an authority that is none": {**good, "TLS_CLIENT_CA_FILE": str(text)},
    }


CASES = (
    "the key of another certificate",
    "a file that is not there",
    "a certificate without its key",
    "a text",
    "an authority that is none",
)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.long
async def test_doctor_refuses_a_certificate_with_the_sentence_of_a_start(tmp_path: Path, case: str):
    settings = wrong_files(tmp_path)[case]
    done = await run("doctor", "--json", home=tmp_path, **settings)
    started = await run_agent("agents.github", home=tmp_path, **settings)
    assert (done.code, started.code) == (2, 2)
    (sentence,) = done.findings("wrong")
    assert "TLS_" in sentence
    assert sentence in started.err
    assert str(tmp_path) not in sentence


async def test_doctor_tells_of_a_certificate_that_can_be_used(tmp_path: Path):
    files = Authority().issue("one").files(tmp_path, "one")
    done = await run("doctor", "--json", home=tmp_path, **dict(zip(PAIR, files, strict=True)))
    assert done.code == 0
    assert [line for line in done.findings("ok") if "HTTPS" in line] == [
        "TLS_CERT_FILE and TLS_KEY_FILE belong together; `serve` speaks HTTPS"
    ]


@pytest.mark.parametrize(
    ("until", "level", "code", "part"),
    [
        (timedelta(minutes=-1), "wrong", 2, "the certificate of TLS_CERT_FILE expired on "),
        (timedelta(days=3), "note", 0, "the certificate of TLS_CERT_FILE expires on "),
    ],
)
async def test_doctor_tells_of_a_certificate_that_clients_refuse_or_soon_will(
    tmp_path: Path, until: timedelta, level: str, code: int, part: str
):
    files = Authority().issue("one", (timedelta(days=-60), until)).files(tmp_path, "one")
    done = await run("doctor", "--json", home=tmp_path, **dict(zip(PAIR, files, strict=True)))
    assert done.code == code
    assert [line for line in done.findings(level) if line.startswith(part)]
