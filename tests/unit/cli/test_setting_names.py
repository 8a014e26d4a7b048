"""Names that look like a setting."""

from __future__ import annotations

import pytest

from utils.settings_index import groups_in, names_of, shared_groups
from utils.settings_names import distance, unknown_names

KNOWN = names_of(shared_groups()) | names_of(groups_in("agents.github"))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("LLM_PROVDIER", "LLM_PROVIDER"),
        ("LLM_PROVIDR", "LLM_PROVIDER"),
        ("GITHUB_TOKENS", "GITHUB_TOKEN"),
        ("llm_model", "LLM_MODEL"),
        ("port", "PORT"),
        ("LOGLEVEL", "LOG_LEVEL"),
        ("TSL_CERT_FILE", "TLS_CERT_FILE"),
    ],
)
def test_a_misspelt_name_is_taken_for_the_nearest_setting(written, meant):
    assert [one.meant for one in unknown_names([written], KNOWN)] == [meant]


@pytest.mark.parametrize(
    "name",
    ["HOME", "PATH", "PORTS", "HOSTNAME", "GITHUB_ACTIONS", "GITHUB_SHA", "AWS_PROFILE", "OPENAI_ORG_ID",
     "AZURE_OPENAI_API_TYPE", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SERVICE_NAME", "HTTPS_PROXY",
     "SSL_CERT_FILE", "SSL_CERT_DIR"],
)  # fmt: skip
def test_a_name_of_another_program_is_not_suspected(name):
    assert [one.suspicious for one in unknown_names([name], KNOWN)] == [False]


def test_a_name_that_begins_as_only_ours_do_is_suspected_without_a_guess():
    assert [(one.meant, one.suspicious) for one in unknown_names(["LLM_NONSENSE"], KNOWN)] == [(None, True)]


def test_every_setting_is_known():
    assert unknown_names(KNOWN, KNOWN) == []


@pytest.mark.parametrize(
    ("one", "other", "steps"),
    [("", "", 0), ("abc", "abc", 0), ("abc", "ab", 1), ("abc", "acb", 1), ("abc", "xbc", 1), ("kitten", "sitting", 3)],
)  # fmt: skip
def test_the_distance_counts_letters_and_swapped_neighbours(one, other, steps):
    assert distance(one, other) == distance(other, one) == steps
