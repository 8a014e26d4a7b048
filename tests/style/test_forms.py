"""The forms for issues and pull requests are ones that GitHub accepts, and warn of secrets."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.style.sources import ROOT

GITHUB = ROOT / ".github"
FORMS = sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yaml"))
ELEMENTS = {"markdown", "textarea", "input", "dropdown", "checkboxes"}
INPUTS = ELEMENTS - {"markdown"}
ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")


def _form(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((GITHUB / "ISSUE_TEMPLATE" / name).read_text("utf-8"))
    return found


def test_there_is_a_form_for_a_bug_and_one_for_an_idea_and_no_blank_issue():
    assert [path.name for path in FORMS] == ["bug.yaml", "idea.yaml"]
    assert _form("config.yml") == {"blank_issues_enabled": False}


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_has_what_github_demands(path):
    form = yaml.safe_load(path.read_text("utf-8"))
    assert {"name", "description", "body"} <= form.keys() <= {"name", "description", "labels", "body"}
    assert {element["type"] for element in form["body"]} <= ELEMENTS
    asked = [element for element in form["body"] if element["type"] in INPUTS]
    ids = [element["id"] for element in asked]
    labels = [element["attributes"]["label"] for element in asked]
    assert len(set(ids)) == len(ids)
    assert len(set(labels)) == len(labels)
    assert all(re.fullmatch(r"[\w-]+", name) for name in ids)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_asks_for_the_doctor_and_warns_of_secrets(path):
    text = path.read_text("utf-8")
    assert "`platform-engineer doctor`" in text
    assert "keys, tokens" in text.lower()


def test_a_bug_needs_what_the_doctor_prints_and_a_word_on_secrets():
    body = {element.get("id"): element for element in _form("bug.yaml")["body"]}
    assert body["doctor"]["validations"] == {"required": True}
    assert all(option["required"] for option in body["secrets"]["attributes"]["options"])
    assert "SECURITY.md" in body[None]["attributes"]["value"]


def test_a_pull_request_says_why_and_runs_the_gate():
    text = (GITHUB / "pull_request_template.md").read_text("utf-8")
    for words in ("**Why:**", "`make ci`", "`platform-engineer doctor`", "CHANGELOG.md", "no keys, tokens"):
        assert words in text


def test_a_hole_is_reported_on_github_and_to_no_mailbox():
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    assert "**Report a vulnerability**" in text
    assert not ADDRESS.search(text)
