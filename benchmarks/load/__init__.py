"""Many clients and slow ones: `python -m benchmarks.load`.

Our server and the bare SDK's run the same agent, each in a process; a reader of one byte a second, idle streams and streams that
are dropped are measured on both in the same run. Then many clients ask a whole service at once, and `SOAK=1800` lets it
work for so many seconds.
"""
