"""The pods of a rendered chart as processes of this machine.

A process gets the command and the environment of its pod and nothing else. Only what a cluster would provide is
mapped: the names of services to loopback ports, and mounted volumes to folders.
"""

from __future__ import annotations

import asyncio
import re
import shlex
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.helm.chart import Manifest, of_kind, pods
from tests.helm.tools import ROOT
from tests.ports import free_port

BIN = Path(sys.executable).parent
START_SECONDS = 90


@dataclass(frozen=True)
class Cluster:
    """Rendered manifests, and where their services and volumes are here.

    Attributes:
        manifests: What was rendered.
        namespace: Where it would be.
        ports: Where each service is on loopback.
        folders: Where volumes and logs are.
        secrets: Secrets of the namespace that the chart did not make.
        metrics: Where each service has its metrics alone on loopback, where it has.
    """

    manifests: list[Manifest]
    namespace: str
    ports: dict[str, int]
    folders: Path
    secrets: dict[str, dict[str, str]] = field(default_factory=dict)
    metrics: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, manifests: list[Manifest], folders: Path) -> Cluster:
        """A free port for each service."""
        services = of_kind(manifests, "Service")
        ports = {name: free_port() for name in services}
        metrics = {name: free_port() for name in services}
        namespace = next(iter(services.values()))["metadata"]["namespace"]
        return cls(manifests, namespace, ports, folders, metrics=metrics)

    def pod(self, component: str) -> Pod:
        """One pod with its environment resolved."""
        (container,) = (found := pods(self.manifests)[component])["containers"]
        mounts = {
            one["mountPath"]: self.folders / self._volume(found, one["name"])
            for one in container.get("volumeMounts", [])
        }
        given = _image_environment() | self._environment(container)
        environment = {name: self._mapped(value, mounts) for name, value in given.items()}
        service = f"first-platform-engineer-{component}"
        if service in self.ports:
            assert environment["HOST"] == "0.0.0.0", "nobody would reach the pod"
            environment |= {"HOST": "127.0.0.1", "PORT": str(self.ports[service])}
            if "METRICS_PORT" in environment:
                environment["METRICS_PORT"] = str(self.metrics[service])
        for folder in mounts.values():
            folder.mkdir(parents=True, exist_ok=True)
        arguments = [self._mapped(one, mounts) for one in container["args"]]
        return Pod(component, container, [*_entrypoint(), *arguments], environment, self.folders)

    def _volume(self, pod: Manifest, name: str) -> str:
        """A folder for a volume: the same for the same claim, else one of the pod."""
        (volume,) = [one for one in pod["volumes"] if one["name"] == name]
        claims = (("persistentVolumeClaim", "claimName"), ("configMap", "name"), ("secret", "secretName"))
        claim = next((volume[kind][key] for kind, key in claims if kind in volume), None)
        return str(claim) if claim else f"{name}-{id(volume)}"

    def _environment(self, container: Manifest) -> dict[str, str]:
        maps = of_kind(self.manifests, "ConfigMap")
        secrets = self.secrets | {
            name: one["stringData"] for name, one in of_kind(self.manifests, "Secret").items()
        }
        found: dict[str, str] = {}
        for source in container.get("envFrom", []):
            if "configMapRef" in source:
                found |= maps[source["configMapRef"]["name"]]["data"]
            else:
                found |= secrets[source["secretRef"]["name"]]
        for one in container.get("env", []):
            if "value" in one:
                found[one["name"]] = one["value"]
            elif (key := one["valueFrom"]["secretKeyRef"])["key"] in secrets.get(key["name"], {}):
                found[one["name"]] = secrets[key["name"]][key["key"]]
        return found

    def _mapped(self, text: str, mounts: dict[str, Path]) -> str:
        for name, port in self.ports.items():
            address = rf"(https?)://{re.escape(name)}(\.{self.namespace}\.svc)?:\d+"
            text = re.sub(address, rf"\1://127.0.0.1:{port}", text)
        if not mounts:
            return text
        inside = "|".join(
            re.escape(path) for path in mounts
        )  # at once: a folder here may begin like a mount there
        return re.sub(rf"(?<![\w/])({inside})(?=/|,|$)", lambda found: str(mounts[found[1]]), text)


@dataclass(frozen=True)
class Pod:
    """A command, its environment, and what the kubelet would ask it."""

    name: str
    container: Manifest
    command: list[str]
    environment: dict[str, str]
    folder: Path

    @property
    def log(self) -> Path:
        """Where its output goes."""
        return self.folder / f"{self.name}.log"

    async def start(self) -> asyncio.subprocess.Process:
        """Start it as a process, from a folder without an `.env`."""
        with self.log.open("wb") as log:
            return await asyncio.create_subprocess_exec(
                *self.command, env=self.environment, cwd=self.folder, stdout=log, stderr=log
            )

    async def run(self) -> tuple[int, str]:
        """Run it to its end: exit code and output."""
        process = await self.start()
        code = await asyncio.wait_for(process.wait(), START_SECONDS)
        return code, self.log.read_text()

    async def passes(self, probe: str, process: asyncio.subprocess.Process) -> None:
        """Wait until a probe of the pod succeeds."""
        asked = self.container[probe]["httpGet"]
        port = self.environment["METRICS_PORT" if asked["port"] == "metrics" else "PORT"]
        url = f"http://127.0.0.1:{port}{asked['path']}"
        async with asyncio.timeout(START_SECONDS), httpx.AsyncClient(trust_env=False) as http:
            while True:
                assert process.returncode is None, self.log.read_text()
                try:
                    if (await http.get(url)).is_success:
                        return
                except httpx.TransportError:
                    pass
                await asyncio.sleep(0.1)  # as the kubelet asks, only more often


@asynccontextmanager
async def started(everyone: list[Pod]) -> AsyncIterator[None]:
    """All pods at once, started in no order, until each is ready."""
    processes = [await pod.start() for pod in everyone]
    try:
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            await asyncio.gather(
                *(pod.passes(probe, own) for pod, own in zip(everyone, processes, strict=True))
            )
        yield
    finally:
        for process in processes:
            if process.returncode is None:
                process.terminate()
        codes = await asyncio.gather(*(asyncio.wait_for(process.wait(), 60) for process in processes))
        assert set(codes) <= {0, -signal.SIGTERM}
        for pod in everyone:
            assert "Application shutdown complete" in pod.log.read_text(), f"{pod.name} did not end cleanly"


def _entrypoint() -> list[str]:
    (line,) = [one for one in (ROOT / "Dockerfile").read_text().splitlines() if one.startswith("ENTRYPOINT")]
    (name,) = re.findall(r'"([^"]+)"', line)
    return [str(BIN / name)]


def _image_environment() -> dict[str, str]:
    """The ENV of the image's last stage, with this machine's environment in place of the image's."""
    last = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").split("\nFROM ")[-1]
    (line,) = [one for one in last.splitlines() if one.startswith("ENV ")]
    given = dict(pair.split("=", 1) for pair in shlex.split(line.removeprefix("ENV ")))
    return given | {"PATH": f"{BIN}:/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
