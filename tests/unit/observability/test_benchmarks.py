"""`make bench` runs what there is, and says what there is not."""

from __future__ import annotations

import importlib

import pytest

from benchmarks import __main__ as bench


def test_a_part_runs_alone_and_quickly(capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setattr("benchmarks.context.TURNS", 0)  # put back afterwards
    bench.main(["context", "--quick"])
    said = capsys.readouterr().out
    assert said.startswith("== context:")
    assert f"context over {bench.QUICK['TURNS']} turns, ours:" in said


def test_a_part_that_is_not_in_this_checkout_is_named_and_left_out(
    capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    monkeypatch.setattr(bench, "PARTS", {"moonlight": "what is not there"})
    assert not bench.measure("moonlight")
    assert "not in this checkout" in capsys.readouterr().out


def test_an_unknown_part_is_refused_with_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        bench.main(["wires"])
    assert raised.value.code == 2
    assert "context, wire, delegation, startup" in capsys.readouterr().err


@pytest.mark.parametrize("name", [name for name in bench.PARTS if name != "delegation"])
def test_every_part_has_an_entry(name: str) -> None:
    module = importlib.import_module(f"benchmarks.{name}")
    assert callable(getattr(module, "run", None) or module.main)
