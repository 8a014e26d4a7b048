"""Log events of context management. Operators search for the phrases in their `message` fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from utils.context.report import Report, StageResult

_WORDS = {
    "truncate": "{} oversized tool results cut",
    "clear": "{} tool results cleared",
    "compress": "{} ranked results compressed",
    "summarise": "{} messages summarised",
    "drop": "{} messages left out",
    "clip": "{} messages clipped",
}


def request(log: Any, report: Report, summariser: str) -> None:
    """Log what the pipeline did to one model request; nothing if it did nothing."""
    if report.interrupted:
        log.warning(
            "context.repaired",
            message=f"Added {len(report.interrupted)} synthetic ToolMessages for interrupted tool calls",
            calls=len(report.interrupted),
        )
    if report.violations:
        log.error("context.last_resort", violations=report.violations)
    if report.clipped_request:
        log.warning("context.request_clipped", limit=report.limit)
    for step in report.steps:
        _step(log, step, report, summariser)


def preflight(log: Any, report: Report, summariser: str) -> None:
    """Log that a request was over its budget, and what the pipeline did about it."""
    log.warning(
        "context.preflight.over_budget",
        message=f"Pre-flight check detected {report.before} tokens of {report.limit}",
        tokens=report.before,
        limit=report.limit,
    )
    request(log, report, summariser)


def ignored(log: Any, names: Sequence[str]) -> None:
    """Log, at start, which limits are ignored because they are not positive integers."""
    if names:
        log.warning(
            "context.limits_ignored",
            message=f"Ignored, since they are not positive whole numbers: {', '.join(names)}",
            names=list(names),
        )


def overflow(log: Any, report: Report, limit: int) -> None:
    """Log that a provider refused a request as too long."""
    log.warning(
        "context.overflow",
        message=f"The provider refused {report.after} tokens; trying again within {limit}",
        tokens=report.after,
        limit=limit,
    )


def _step(log: Any, step: StageResult, report: Report, summariser: str) -> None:
    if step.strategy == "summarise":
        message = f"Summarizing {step.touched} messages with {_title(summariser)}"
        log.info("context.summarising", message=message, failed=step.failed)
    if step.strategy == "compress":
        _compression(log, step, report)
    log.info(
        "context.compacted",
        message=line(step.strategy, step.before, step.after, report.limit, step.touched),
        strategy=step.strategy,
        before=step.before,
        after=step.after,
        limit=report.limit,
    )


def _compression(log: Any, step: StageResult, report: Report) -> None:
    percent = 100 * step.before / report.window
    log.warning(
        "context.compressing",
        message=(
            f"Context at {step.before} tokens ({percent:.1f}% of {report.window} window), compressing tool results"
        ),
    )
    for detail in step.details:
        log.info("context.compressed_article", message=detail)
    saved, percent = step.before - step.after, 100 * step.after / report.window
    log.info(
        "context.compression_complete",
        message=f"Compression complete: saved {saved} tokens, new total ~{step.after} ({percent:.1f}% of window)",
    )


def line(strategy: str, before: int, after: int, limit: int, touched: int) -> str:
    """One compaction as a phrase, with shares of the input budget."""
    words = _WORDS.get(strategy, "{} messages changed").format(touched)
    return f"context {100 * before / limit:.0f} % → {100 * after / limit:.0f} %, {words}"


def _title(summariser: str) -> str:
    return "LangMem" if summariser == "langmem" else "an extract"
