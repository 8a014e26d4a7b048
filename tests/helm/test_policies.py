"""What checkov finds in the chart is argued in values.yaml, and what hadolint finds in the Dockerfile is nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.helm.chart import CHART, Helm
from tests.helm.tools import ROOT, Tools

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

ARGUED = re.compile(r"^# (CKV2?_\w+)(?: \((\w+)\))?: .{20,}$", re.MULTILINE)


def _argued() -> dict[str, str]:
    """The arguments: a check, and the component that it is argued for where it is not every one."""
    return dict(ARGUED.findall((CHART / "values.yaml").read_text()))


def _findings(tools: Tools, folder: Path) -> dict[str, list[str]]:
    """The failed checks of a folder of manifests, each with the resources that fail it."""
    command = [str(tools.bin / "checkov"), "-d", str(folder), "--framework", "kubernetes", "--output", "json"]
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "LOG_LEVEL": "ERROR"}
    done = subprocess.run(
        [*command, "--quiet", "--compact", "--skip-download"],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads(done.stdout)
    assert report["summary"]["parsing_errors"] == 0
    assert report["summary"]["resource_count"] > 5
    found: dict[str, list[str]] = {}
    for check in report["results"]["failed_checks"]:
        found.setdefault(check["check_id"], []).append(check["resource"])
    return found


def test_every_finding_of_checkov_is_argued_and_every_argument_is_needed(
    helm4: Helm, checkers: Tools, tmp_path: Path
):
    (tmp_path / "rendered.yaml").write_text(helm4.text())
    found = _findings(checkers, tmp_path)
    assert found.keys() == _argued().keys(), found
    for check, component in _argued().items():
        assert all(resource.endswith(component) for resource in found[check]), (check, found[check])


def test_checkov_would_notice_a_careless_pod(helm4: Helm, checkers: Tools, tmp_path: Path):
    careless = helm4.text().replace("allowPrivilegeEscalation: false", "allowPrivilegeEscalation: true")
    (tmp_path / "rendered.yaml").write_text(careless)
    assert "CKV_K8S_20" in _findings(checkers, tmp_path)


def test_hadolint_finds_nothing_in_the_dockerfile(checkers: Tools):
    command = [str(checkers.bin / "hadolint"), "--no-color", str(ROOT / "Dockerfile")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
