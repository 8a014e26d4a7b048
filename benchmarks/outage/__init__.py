"""PostgreSQL is stopped under load for some seconds: each request ends in an answer or a failure with its reason.

`python -m benchmarks.outage SECONDS=20`.
"""
