"""Replicas are restarted one after the other under load: `python -m benchmarks.rolling STREAMS=50 BLOCKING=50`.

Two supervisors and two workers over PostgreSQL, all processes of their own. Clients send one message after the other until every
supervisor has been replaced; what breaks off is taken up again at the other replica. The order is that of a rollout: a replica
is told to stop (SIGTERM), and the next one only when it is back and ready.
"""
