"""`python -m tests.broken_rules [ID…]`: breaks each rule and demands that its tests go red."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.broken_rules.checkout import Copy, DoesNotEnd
from tests.broken_rules.judge import Outcome, crash, unnoticed
from tests.broken_rules.product import Product
from tests.broken_rules.rules import Break, Rule
from tests.broken_rules.table import RULES
from tests.style.sources import ROOT


def main(arguments: Sequence[str]) -> int:
    """Run; 0 when every break was noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.broken_rules")
    parser.add_argument("ids", nargs="*", metavar="ID", help="rules to break; all when omitted")
    parser.add_argument("--list", action="store_true", help="only print the rules")
    options = parser.parse_args(arguments)
    chosen = [rule for rule in RULES if not options.ids or rule.id in options.ids]
    unknown = set(options.ids) - {rule.id for rule in chosen}
    if unknown:
        parser.error(f"no such rule: {', '.join(sorted(unknown))}")
    if options.list:
        for rule in chosen:
            print(f"{rule.id:<22} {rule.sentence}")
        return 0
    with tempfile.TemporaryDirectory(prefix="broken-rules-") as folder, Copy.made_in(Path(folder)) as copy:
        return _break_all(chosen, copy)


def _break_all(rules: Sequence[Rule], copy: Copy) -> int:
    _tell_moved(rules)
    tests = list(dict.fromkeys(test for rule in rules for each in rule.breaks for test in each.tests))
    print(f"{len(tests)} tests on the unbroken checkout …", flush=True)
    unbroken = copy.run_unbroken(tests)
    failed = [outcome for outcome in unbroken if not outcome.passed]
    for outcome in failed:
        print(f"  red without a break: {outcome.test} {outcome.error}: {outcome.reason}")
    if failed:
        return 2
    print(f"{'result':<7} {'rule':<22} {'seconds':>7}  broken so that")
    results = [_try(rule, each, copy) for rule in rules for each in rule.breaks]
    red = sum(results)
    print(f"{len(rules)} rules, {len(results)} breaks: {red} red, {len(results) - red} green")
    return 0 if all(results) else 1


def _tell_moved(rules: Sequence[Rule]) -> None:
    """Name the edits whose code was found elsewhere: moved or renamed, so that the table may follow."""
    product = Product(ROOT)
    edits = dict.fromkeys(edit for rule in rules for each in rule.breaks for edit in each.edits)
    for edit in edits:
        if not product.is_at_its_address(edit):
            print(f"  moved or renamed since it was written: {edit.where}")


def _try(rule: Rule, each: Break, copy: Copy) -> bool:
    began = time.monotonic()
    complaint = _complaint(each, copy)
    result = "GREEN" if complaint else "red"
    print(f"{result:<7} {rule.id:<22} {time.monotonic() - began:7.1f}  {each.name}", flush=True)
    if complaint:
        print(f"        {complaint}", flush=True)
    return not complaint


def _complaint(each: Break, copy: Copy) -> str:
    """Why a break does not count as noticed; empty when it does."""
    with copy.with_edits(each.edits):
        wrong = copy.complaints([edit.file for edit in each.edits])
        if wrong:
            return f"the edit is no program: {wrong}"
        try:
            found = copy.run_tests(each.tests)
        except DoesNotEnd as error:
            return str(error)
    return _judged(each, found)


def _judged(each: Break, found: Sequence[Outcome]) -> str:
    if quiet := unnoticed(each.tests, found):
        return f"not noticed by {', '.join(quiet)}"
    if error := crash(found):
        return f"red for a reason of its own: {error}"
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
