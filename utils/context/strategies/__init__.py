"""Strategies of the pipeline's stages, one per file. Functions from messages to messages."""
