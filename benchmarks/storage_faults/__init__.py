"""Storage that fails under a whole service: `python -m benchmarks.storage_faults`.

Another process holds a write lock while answers stream, a file system fills up and is freed, pages of a file are damaged. No
piece may be missing from a completed answer, no task may stay at work, and every failure has a code and a sentence.
"""
