"""What a user sees of each way in which real model servers answer: `make test-models`.

One row for each form on the wire, in `table/`; the double sends it, the provider's real client reads it.
"""
