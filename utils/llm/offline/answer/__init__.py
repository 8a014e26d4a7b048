"""Answers made of what tools returned: extracts, tables, records, with their sources. Nothing is invented."""
