"""`python -m tests.eval.blind SET`: asks the questions of a set at the real service and writes down what came.

A set is a YAML list, written by somebody who has seen neither code nor documents. Each entry has `id`, `kind`,
`question` or `turns`, `wants` and `agent`, and may have `page`, `tool`, `arguments`, `mentions` and `avoids` as keys.
"""
