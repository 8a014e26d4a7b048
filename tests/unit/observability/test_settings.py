"""A wrong setting of logs and traces is one sentence that names what is allowed."""

from __future__ import annotations

import pytest

from utils.errors import SettingsError
from utils.observability.export import export_traces
from utils.observability.settings import LogSettings, TelemetrySettings


@pytest.mark.parametrize(
    ("variable", "value", "allowed"),
    [
        ("LOG_LEVEL", "loud", ("DEBUG", "INFO", "WARNING", "ERROR")),
        ("LOG_FORMAT", "xml", ("auto", "console", "json")),
    ],
)
def test_a_wrong_choice_names_the_variable_and_what_it_may_be(
    variable: str, value: str, allowed: tuple[str, ...]
) -> None:
    with pytest.raises(SettingsError) as raised:
        LogSettings.load({variable: value})
    assert raised.value.variable == variable
    for word in (variable, *allowed):
        assert word in raised.value.message
    assert "pattern" not in raised.value.message
    assert raised.value.message.count(".") == 1


@pytest.mark.parametrize("level", ["debug", "Info", "WARNING"])
def test_a_level_is_read_in_any_case(level: str) -> None:
    assert LogSettings.load({"LOG_LEVEL": level}).level == level.upper()


@pytest.mark.parametrize(
    "settings",
    [
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_EXPORTER_OTLP_HEADERS": "no-sign"},
    ],
)
def test_a_wrong_collector_names_the_variable_and_shows_no_header(settings: dict[str, str]) -> None:
    with pytest.raises(SettingsError) as raised:
        export_traces(TelemetrySettings.load(settings), agent="a", version="1")
    assert raised.value.variable == list(settings)[-1]
    assert "no-sign" not in raised.value.message
