"""Routes of the test server. They respond as GitHub documents: pages, links, states, status codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from agents.github.testing.data import (
    FILES,
    REPOSITORIES,
    GitHubData,
    directory_rows,
    example,
    failed_job,
    file_row,
    job_log,
)

Handler = Callable[[Request], Response]
_REPO = "/repos/{owner}/{repo}"
_BAD_TOKEN = "token bad-token"  # noqa: S105 - a value that tests send to be refused
_LOG_LINES = 3_000
_SHORTEST_HASH = 4
"""Characters of a hash from which GitHub looks for a commit."""


def routes(data: GitHubData, log_host: str | None) -> list[BaseRoute]:
    """All routes, at the root and under GitHub Enterprise's `/api/v3`."""
    found: list[BaseRoute] = []
    for prefix in ("", "/api/v3"):
        for path, handler in (_free_routes(data) | _repository_routes(data, log_host)).items():
            found.append(Route(prefix + path, handler))
        for path, handler in _changes().items():
            found.append(Route(prefix + path, _known(handler), methods=["POST"]))
    return found


def _changes() -> dict[str, Handler]:
    """Routes that change something. Nothing is stored: the recorder has the request."""
    link = "https://github.com/octocat/Hello-World"
    return {
        _REPO + "/issues": lambda _: JSONResponse({"number": 99, "html_url": f"{link}/issues/99"}, 201),
        _REPO + "/issues/{number:int}/comments": lambda request: JSONResponse(
            {"id": 1, "html_url": f"{link}/issues/{request.path_params['number']}#issuecomment-1"}, 201
        ),
        _REPO + "/actions/runs/{number:int}/rerun": lambda _: JSONResponse({}, 201),
        _REPO + "/actions/runs/{number:int}/rerun-failed-jobs": lambda _: JSONResponse({}, 201),
    }


def _free_routes(data: GitHubData) -> dict[str, Handler]:
    return {
        "/search/repositories": lambda request: _search(request, "search_repositories"),
        "/search/code": _search_code,
        "/search/issues": lambda request: _search_issues(request, data),
        "/users/{owner}": _account,
        "/users/{owner}/repos": lambda request: _repositories(request, "repositories"),
        "/orgs/{owner}/repos": lambda request: _repositories(request, "repositories"),
        "/user/repos": lambda request: _signed_in(request) or _page(request, example("own_repositories")),
        "/_logs/{number:int}.txt": lambda _request: PlainTextResponse(job_log(_LOG_LINES)),
    }


def _repository_routes(data: GitHubData, log_host: str | None) -> dict[str, Handler]:
    commits = data.repeated("commits", 45, sha="{n:08x}dcb09b5b57875f334f61aebed695e2e4")
    branches = [*example("branches"), *data.repeated("branches", 2, name="release-{n}")]
    releases = data.repeated("releases", 12, tag_name="v1.0.{n}", name="v1.0.{n}")
    handlers: dict[str, Handler] = {
        "": lambda _request: JSONResponse(example("repository")),
        "/pulls": lambda request: _page(request, _by_state(request, data.pulls)),
        "/pulls/{number:int}": lambda request: _row(data.pull(request.path_params["number"])),
        "/pulls/{number:int}/files": lambda request: _page(request, example("pull_files")),
        "/pulls/{number:int}/reviews": lambda request: _page(request, example("pull_reviews")),
        "/issues": lambda request: _page(request, _by_state(request, data.issues)),
        "/issues/{number:int}": lambda request: _row(data.issue(request.path_params["number"])),
        "/issues/{number:int}/comments": lambda request: _page(request, example("issue_comments")),
        "/branches": lambda request: _page(request, branches),
        "/tags": lambda request: _page(request, data.repeated("tags", 12, name="v1.0.{n}")),
        "/commits": lambda request: _page(request, commits),
        "/commits/{ref}/pulls": lambda request: _page(request, example("pulls")),
        "/commits/{ref:path}": lambda request: _commit(request, commits, {*_names(branches, releases)}),
        "/compare/{pair:path}": lambda request: _comparison(request, commits, {*_names(branches, releases)}),
        "/contents": _contents,
        "/contents/{path:path}": _contents,
        "/releases": lambda request: _page(request, releases),
        "/actions/runs": _runs,
        "/actions/runs/{number:int}": lambda request: _row(_run(request)),
        "/actions/runs/{number:int}/jobs": _jobs,
        "/actions/jobs/{number:int}": lambda request: _row(failed_job(request.path_params["number"])),
        "/actions/jobs/{number:int}/logs": lambda request: _log_redirect(request, log_host),
    }
    return {_REPO + path: _known(handler) for path, handler in handlers.items()}


def _known(handler: Handler) -> Handler:
    def answer(request: Request) -> Response:
        name = f"{request.path_params['owner']}/{request.path_params['repo']}".lower()
        if request.headers.get("authorization") == _BAD_TOKEN:
            return _problem(401, "Bad credentials")
        return handler(request) if name in REPOSITORIES else _problem(404, "Not Found")

    return answer


def _problem(status: int, message: str) -> Response:
    return JSONResponse({"message": message, "documentation_url": "https://docs.github.com/rest"}, status)


def _row(row: dict[str, Any] | None) -> Response:
    return _problem(404, "Not Found") if row is None else JSONResponse(row)


def _names(branches: Sequence[dict[str, Any]], releases: Sequence[dict[str, Any]]) -> list[str]:
    """What names a commit besides its hash."""
    return ["HEAD", "main", *(each["name"] for each in branches), *(each["tag_name"] for each in releases)]


def _hash_of(ref: str, commits: Sequence[dict[str, Any]], names: set[str]) -> str | None:
    """The hash of the commit that a branch, a tag or the beginning of a hash names."""
    if ref in names:
        return str(commits[0]["sha"])
    found = (str(each["sha"]) for each in commits if len(ref) >= _SHORTEST_HASH)
    return next((sha for sha in found if sha.startswith(ref)), None)


def _commit(request: Request, commits: Sequence[dict[str, Any]], names: set[str]) -> Response:
    ref = request.path_params["ref"]
    sha = _hash_of(ref, commits, names)
    if sha is None:
        return _problem(422, f"No commit found for SHA: {ref}")
    return JSONResponse(example("commit") | {"sha": sha})


def _comparison(request: Request, commits: Sequence[dict[str, Any]], names: set[str]) -> Response:
    base, _, head = request.path_params["pair"].partition("...")
    known = (_hash_of(base, commits, names), _hash_of(head, commits, names))
    return JSONResponse(example("comparison")) if all(known) else _problem(404, "Not Found")


def _signed_in(request: Request) -> Response | None:
    return None if "authorization" in request.headers else _problem(401, "Requires authentication")


def _by_state(request: Request, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    asked = request.query_params
    state, base, creator = asked.get("state", "open"), asked.get("base"), asked.get("creator")
    kept = [row for row in rows if state in ("all", row["state"])]
    kept = [row for row in kept if base in (None, row.get("base", {}).get("ref"))]
    kept = [row for row in kept if creator in (None, row["user"]["login"])]
    kept = [row for row in kept if _is_assigned(row, asked.get("assignee"))]
    wanted = {name.lower() for name in asked.get("labels", "").split(",") if name}
    kept = [row for row in kept if wanted <= {label["name"].lower() for label in row.get("labels") or ()}]
    return kept[::-1] if asked.get("direction") == "asc" else kept


def _is_assigned(row: dict[str, Any], assignee: str | None) -> bool:
    """GitHub's filter: a login, `none`, or `*` for anybody."""
    logins = {person["login"] for person in row.get("assignees") or ()}
    match assignee:
        case None:
            return True
        case "none":
            return not logins
        case "*":
            return bool(logins)
    return assignee in logins


def _page(request: Request, rows: Sequence[Any], key: str | None = None) -> Response:
    """One page of rows, with GitHub's Link header."""
    size = min(int(request.query_params.get("per_page", "30")), 100)
    number = int(request.query_params.get("page", "1"))
    last = max(1, -(-len(rows) // size))
    links = {"prev": number - 1, "next": number + 1, "first": 1, "last": last}
    shown = {
        name: to for name, to in links.items() if 1 <= to <= last and not (name == "last" and number == last)
    }
    header = ", ".join(
        f'<{request.url.include_query_params(page=to, per_page=size)}>; rel="{name}"'
        for name, to in shown.items()
    )
    part = list(rows[(number - 1) * size : number * size])
    body = {"total_count": len(rows), "incomplete_results": False, key: part} if key else part
    return JSONResponse(body, headers={"Link": header} if last > 1 else {})


def _search(request: Request, name: str) -> Response:
    if not request.query_params.get("q"):
        return _problem(422, "Validation Failed")
    return _page(request, example(name)["items"], "items")


def _search_issues(request: Request, data: GitHubData) -> Response:
    """Issues with all plain words of the query in their titles, in a state that it names."""
    words = request.query_params.get("q", "").lower().split()
    plain = {word for word in words if ":" not in word}
    if not any(f"repo:{name}" in words for name in REPOSITORIES):
        return _problem(422, "Validation Failed")
    found = [
        row for row in data.issues if "pull_request" not in row and plain <= set(row["title"].lower().split())
    ]
    found = [
        row for row in found if f"is:{row['state']}" in words or not {"is:open", "is:closed"} & set(words)
    ]
    return _page(request, found[::-1] if request.query_params.get("order") == "asc" else found, "items")


def _search_code(request: Request) -> Response:
    return _signed_in(request) or _search(request, "search_code")


def _account(request: Request) -> Response:
    owner = request.path_params["owner"].lower()
    kinds = {"octocat": "User", "octo-org": "Organization"}
    if owner not in kinds:
        return _problem(404, "Not Found")
    return JSONResponse({"login": owner, "type": kinds[owner]})


def _repositories(request: Request, name: str) -> Response:
    known = {repository.split("/")[0] for repository in REPOSITORIES}
    if request.path_params["owner"].lower() not in known:
        return _problem(404, "Not Found")
    return _page(request, example(name))


def _contents(request: Request) -> Response:
    path = request.path_params.get("path", "")
    if request.query_params.get("ref") == "no-such-branch":
        return _problem(404, "No commit found for the ref no-such-branch")
    if path == "example.md":
        return JSONResponse(example("file"))
    if path in FILES:
        if "raw" in request.headers.get("accept", ""):
            return Response(FILES[path], media_type="application/vnd.github.raw+json")
        return JSONResponse(file_row(path))
    rows = directory_rows(path)
    return JSONResponse(rows) if rows else _problem(404, "Not Found")


def _all_runs() -> list[dict[str, Any]]:
    latest: dict[str, Any] = example("workflow_run")
    runs: list[dict[str, Any]] = example("workflow_runs")["workflow_runs"]
    return [latest | {"status": "completed", "conclusion": "failure"}, *runs]


def _run(request: Request) -> dict[str, Any] | None:
    """The run with the id of the path: its number is no id."""
    return next((run for run in _all_runs() if run["id"] == request.path_params["number"]), None)


def _jobs(request: Request) -> Response:
    if _run(request) is None:
        return _problem(404, "Not Found")
    return JSONResponse({"total_count": 2, "jobs": [example("job"), failed_job(399444497)]})


def _runs(request: Request) -> Response:
    runs = _all_runs()
    status = request.query_params.get("status")
    kept = [run for run in runs if status in (None, run["status"], run["conclusion"])]
    if created := request.query_params.get("created"):
        since, _, until = created.partition("..")
        kept = [run for run in kept if (since == "*" or run["created_at"] >= since)]
        kept = [run for run in kept if (until == "*" or run["created_at"] <= until)]
    if commit := request.query_params.get("head_sha"):
        kept = [run | {"head_sha": commit} for run in kept]
    return _page(request, kept, "workflow_runs")


def _log_redirect(request: Request, log_host: str | None) -> Response:
    if "authorization" not in request.headers:
        return _problem(403, "Must have admin rights to Repository.")
    host = log_host or str(request.base_url).rstrip("/")
    return RedirectResponse(f"{host}/_logs/{request.path_params['number']}.txt?sig=signed", 302)
