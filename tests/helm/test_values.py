"""Every switch renders valid manifests with helm 3 and helm 4; every mistake is refused with a sentence."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.helm.cases import ACCEPTED
from tests.helm.chart import CHART, Helm, of_kind
from tests.helm.mistakes import MISTAKES, SCHEMA_MISTAKES
from tests.helm.tools import Tools

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

KUBERNETES = ("1.28", "1.33", "1.37")
CUSTOM = "ExternalSecret"  # not Kubernetes' own: its fields are tested below
MONITOR = "ServiceMonitor"  # neither: tests/helm/test_metrics.py


@pytest.mark.parametrize("case", ACCEPTED)
def test_values_are_accepted_and_lint_finds_nothing(helm: Helm, case: str):
    helm.lint(ACCEPTED[case])
    assert helm.render(ACCEPTED[case])


@pytest.mark.parametrize("case", ACCEPTED)
def test_both_helms_render_the_same(helms: dict[str, Helm], case: str):
    three, four = (one.render(ACCEPTED[case]) for one in helms.values())
    order = lambda one: (one["kind"], one["metadata"]["name"])
    assert sorted(three, key=order) == sorted(four, key=order)


@pytest.mark.parametrize("version", KUBERNETES)
def test_all_manifests_are_valid_for_a_version_of_kubernetes(
    helm4: Helm, checkers: Tools, tmp_path: Path, version: str
):
    every = [
        one
        for values in ACCEPTED.values()
        for one in helm4.render(values)
        if one["kind"] not in {CUSTOM, MONITOR}
    ]
    different = {yaml.dump(one, Dumper=yaml.CSafeDumper) for one in every}
    file = tmp_path / "all.yaml"
    file.write_text("---\n".join(different))
    done = subprocess.run(
        [str(checkers.bin / "kubernetes-validate"), "-k", version, "--strict", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_validator_would_notice_a_wrong_manifest(checkers: Tools, tmp_path: Path):
    file = tmp_path / "wrong.yaml"
    service = "{{apiVersion: v1, kind: Service, metadata: {{name: a}}, spec: {{{}: []}}}}\n"
    file.write_text(service.format("ports") + "---\n" + service.format("prots"))
    command = [str(checkers.bin / "kubernetes-validate"), "-k", KUBERNETES[-1], "--strict", str(file)]
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_refused_with_a_sentence(helm: Helm, case: str):
    values, sentence = MISTAKES[case]
    assert sentence in helm.refusal(values)


@pytest.mark.parametrize("case", SCHEMA_MISTAKES)
def test_the_schema_names_the_place_and_what_it_should_be(helm: Helm, case: str):
    values, parts = SCHEMA_MISTAKES[case]
    said = helm.refusal(values)
    assert "values don't meet the specifications of the schema" in said
    for part in parts:
        assert re.search(part, said), said


def test_external_secrets_are_asked_of_the_store(helm4: Helm):
    external = of_kind(helm4.render(ACCEPTED["external secrets"]), CUSTOM)["first-platform-engineer-secrets"]
    assert external["spec"]["secretStoreRef"] == {"name": "vault", "kind": "ClusterSecretStore"}
    assert external["spec"]["target"]["name"] == "first-platform-engineer-secrets"
    assert external["spec"]["data"] == [
        {"secretKey": "OPENAI_API_KEY", "remoteRef": {"key": "platform/openai", "property": "api-key"}}
    ]


def test_the_defaults_take_the_keys_that_values_yaml_shows():
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    shown = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))["defaults"]
    left_out = schema["properties"]["defaults"]["properties"]
    taken = {key for key in schema["definitions"]["pod"]["properties"] if key not in left_out}
    assert set(left_out.values()) == {False}
    assert taken == {*shown, "secrets"}  # secrets of every pod have a key of their own
