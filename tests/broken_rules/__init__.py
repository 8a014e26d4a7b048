"""Every rule of the wire, a small edit of the product that breaks it, and the test that must notice.

`python -m tests.broken_rules` makes each edit in a copy of the checkout and runs the named tests there.
"""
