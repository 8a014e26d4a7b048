"""No code carries a version of its own, and the chart brings the version to what it installs."""

from __future__ import annotations

import ast

import pytest

from tests.release.chart import LABEL, check_chart, manifest_problems
from tests.release.result import ROOT
from tests.release.versions import VERSION, version_of
from tests.style.sources import nodes_of, python_files, short
from utils.version import project_version

POD = {
    "kind": "Pod",
    "metadata": {"name": "a", "labels": {LABEL: "1.2.3"}},
    "spec": {"containers": [{"image": "registry.example.com:5000/a:1.2.3"}]},
}


def test_the_product_tells_the_version_of_pyproject():
    assert project_version() == version_of(ROOT)


def test_no_code_assigns_a_version():
    found = [
        f"{short(path)}:{node.lineno}"
        for path in python_files()
        for node in nodes_of(path)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.keyword)
        and isinstance(node.value, ast.Constant)
        and VERSION.fullmatch(str(node.value.value))
    ]
    assert not found, "take it from utils/version.py"


def test_the_version_of_a_manifest_and_of_its_images_is_checked():
    assert list(manifest_problems([POD], "1.2.3")) == []
    label, image = manifest_problems([POD, POD], "1.2.4")
    assert "2 manifests have app.kubernetes.io/version 1.2.3, not 1.2.4; see appVersion" in label
    assert "a pod runs registry.example.com:5000/a:1.2.3, not 1.2.4" in image
    assert list(manifest_problems([], "1.2.3")) == ["nothing is rendered; mend the chart"]


@pytest.mark.servers
@pytest.mark.timeout(600)  # fetches helm on first use
def test_the_chart_carries_the_version():
    assert check_chart(ROOT).problems == []
