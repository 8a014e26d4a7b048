"""Summarisers: a model through LangMem, or extraction by rules."""
