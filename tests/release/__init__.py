"""What must be true before a version is released, as checks that publish nothing.

`python -m tests.release` runs them on the checkout. The tests beside them break each in a copy.
"""
