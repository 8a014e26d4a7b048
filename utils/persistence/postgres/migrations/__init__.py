"""The tables of an agent's schema, written once: each file in `versions` brings them from the version before to its own.

Keys are compared byte by byte (collation "C"), so that an index outlives an update of the system's collations. Texts
that may hold any character are stored as UTF-8 in `bytea`, since PostgreSQL's own type has no zero byte.
"""
