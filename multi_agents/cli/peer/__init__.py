"""Talking to one A2A agent, ours or a foreign one."""

from utils.observability.sdk_spans import switch_sdk_spans

switch_sdk_spans()
