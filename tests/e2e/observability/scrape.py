"""Reads an agent's /metrics as Prometheus would."""

from __future__ import annotations

import httpx
from prometheus_client.parser import text_string_to_metric_families

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


async def scraped(url: str) -> str:
    async with httpx.AsyncClient(trust_env=False) as http:
        answer = await http.get(f"{url}/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return answer.text


def samples(text: str) -> Samples:
    return {
        (sample.name.removeprefix("platform_engineer_"), frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


class Growth:
    """What changed between two scrapes: the tests of one process share its registry."""

    def __init__(self, before: str, after: str) -> None:
        self._before, self._after = samples(before), samples(after)

    def of(self, name: str, **labels: str) -> float:
        key = (name, frozenset(labels.items()))
        return self._after.get(key, 0) - self._before.get(key, 0)
