"""The commands of the documents that need a cluster or an engine: rendered, and read by the real tools."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.compose.tool import compose
from tests.docs.blocks import blocks_of
from tests.helm.chart import Manifest, of_kind
from tests.helm.tools import ROOT, Tools

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

DOCUMENTS = tuple(
    f"docs/{name}.md" for name in ("kubernetes", "kubernetes-network", "operations", "docker", "backup")
)
SCALE = "docs/scale.md"
LINES = [
    line
    for document in DOCUMENTS
    for block in blocks_of(document)
    if block.language == "bash"
    for line in block.text.replace("\\\n", " ").splitlines()
]
OF_A_CLUSTER = {"--create-namespace", "--reuse-values"}
"""Options that a rendering has no use for."""

INSTALLS = [line for line in LINES if re.match(r"helm (install|upgrade) ", line)]
COMPOSE = [line for line in LINES if re.search(r"\bdocker compose ", line)]


def _rendered(tools: Tools, folder: Path, line: str) -> list[Manifest]:
    """What a cluster would get from a line of the document, run beside its files."""
    for document in (*DOCUMENTS, SCALE):
        for block in blocks_of(document):
            if "file" in block.options:
                (folder / block.options["file"]).write_text(block.text)
    (folder / "helm").symlink_to(ROOT / "helm")
    words = [word for word in shlex.split(line)[2:] if word not in OF_A_CLUSTER]
    command = [str(tools.helms["helm4"]), "template", *words]
    done = subprocess.run(
        command, cwd=folder, env={"HOME": str(folder)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def test_the_documented_replicas_render(checkers: Tools, tmp_path: Path):
    lines = [line for block in blocks_of(SCALE) for line in block.text.splitlines()]
    (line,) = [line for line in lines if line.startswith("helm upgrade ")]
    deployments = of_kind(_rendered(checkers, tmp_path, line), "Deployment")
    assert deployments["engineer-platform-engineer-supervisor"]["spec"]["replicas"] == 2
    secret = {"secretRef": {"name": "engineer-database"}}
    for deployment in deployments.values():
        assert secret in deployment["spec"]["template"]["spec"]["containers"][0]["envFrom"]


@pytest.mark.parametrize("line", INSTALLS)
def test_a_documented_release_renders(checkers: Tools, tmp_path: Path, line: str):
    assert of_kind(_rendered(checkers, tmp_path, line), "Deployment")


def test_the_document_installs_and_upgrades():
    assert len(INSTALLS) == 15
    assert len(COMPOSE) >= 5


def test_the_documented_chat_goes_to_the_release_at_its_own_address(checkers: Tools, tmp_path: Path):
    manifests = _rendered(checkers, tmp_path, INSTALLS[0])
    (chat,) = [line for line in LINES if " exec " in line and " chat " in line]
    (deployment,) = re.findall(r"deployment/(\S+)", chat)
    every = {name for line in LINES for name in re.findall(r"deployment/(\S+)", line)}
    assert every <= of_kind(manifests, "Deployment").keys()
    assert deployment in of_kind(manifests, "Deployment")
    assert chat.endswith(f"--url {of_kind(manifests, 'ConfigMap')[deployment]['data']['PUBLIC_URL']}")


def test_every_secret_and_config_map_of_the_example_is_made_by_a_documented_command(
    checkers: Tools, tmp_path: Path
):
    line = next(one for one in INSTALLS if "callers.yaml" in one)
    text = yaml.safe_dump_all(_rendered(checkers, tmp_path, line))
    for name in ("model-keys", "github-token", "handbook", "engineer-supervisor", "engineer-test"):
        assert re.search(rf"name: {name}\b", text)
        assert any(re.search(rf"create (secret generic|configmap) {name}\b", one) for one in LINES)


@pytest.mark.parametrize("line", COMPOSE)
def test_compose_knows_a_documented_command_and_its_options(line: str):
    command, *options = shlex.split(line.partition("docker compose ")[2])
    known = subprocess.run([str(compose()), command, "--help"], capture_output=True, text=True, check=False)
    assert known.returncode == 0, known.stderr
    for option in options:
        assert f"{option} " in known.stdout
