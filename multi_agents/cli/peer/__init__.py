"""Talking to one A2A agent, ours or a foreign one."""
