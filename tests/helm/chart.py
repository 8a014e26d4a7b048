"""Rendering the chart with the real helm."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.helm.tools import ROOT

CHART = ROOT / "helm" / "platform-engineer"
RELEASE = "first"

Values = Mapping[str, Any]
Manifest = dict[str, Any]


@dataclass(frozen=True)
class Helm:
    """One helm binary. Its own folders, so that nothing of the machine's configuration is read."""

    binary: Path
    home: Path

    def run(self, *arguments: str, values: Values | None = None) -> subprocess.CompletedProcess[str]:
        """Run helm with `values` as its values file, in JSON, so that a text stays one: YAML reads `1e3` and `y` otherwise."""
        # It ends before its garbage is worth collecting, which is a fifth of its processor time.
        environ = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "GOGC": "off"}
        return subprocess.run(
            [str(self.binary), *arguments, "-f", "-"],
            input=json.dumps(dict(values or {})),
            env=environ,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def lint(self, values: Values | None = None) -> None:
        """`helm lint --strict` finds nothing."""
        done = self.run("lint", "--strict", str(CHART), values=values)
        assert done.returncode == 0, done.stdout + done.stderr

    def text(self, values: Values | None = None, *, release: str = RELEASE, namespace: str = "team") -> str:
        """The rendered manifests. The same ones are rendered once."""
        return _rendered(self, yaml.safe_dump(dict(values or {})), release, namespace)

    def render(self, values: Values | None = None, **names: str) -> list[Manifest]:
        """The rendered manifests, parsed."""
        return [one for one in yaml.load_all(self.text(values, **names), yaml.CSafeLoader) if one]

    def refusal(self, values: Values) -> str:
        """What helm says to values that it does not accept."""
        done = self.run("template", RELEASE, str(CHART), values=values)
        assert done.returncode != 0, "these values were accepted"
        return done.stderr


@cache
def _rendered(helm: Helm, values: str, release: str, namespace: str) -> str:
    given = yaml.safe_load(values)
    done = helm.run("template", release, str(CHART), "--namespace", namespace, values=given)
    assert done.returncode == 0, done.stderr
    return done.stdout


def of_kind(manifests: list[Manifest], kind: str) -> dict[str, Manifest]:
    """The manifests of a kind by name."""
    return {one["metadata"]["name"]: one for one in manifests if one["kind"] == kind}


def pod_of(manifest: Manifest) -> Manifest:
    """The pod of a deployment or a job, or the pod itself."""
    spec: Manifest = manifest["spec"]
    return spec if manifest["kind"] == "Pod" else spec["template"]["spec"]


def pods(manifests: list[Manifest]) -> dict[str, Manifest]:
    """Every pod by the component that it is."""
    found = [one for one in manifests if one["kind"] in {"Deployment", "Job", "Pod"}]
    return {one["metadata"]["labels"]["app.kubernetes.io/component"]: pod_of(one) for one in found}
