"""The page for browsers at `/`, and its files under `/page`. A client that does not ask for HTML sees neither."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from utils.a2a_common.server.http.page_caller import whose_page
from utils.a2a_common.server.http.page_login import PageLogin
from utils.web.built_page import INDEX, PageFile, page_files

PAGE_PATH = "/page"
"""The URL path of the page's files."""

CALLER_PATH = f"{PAGE_PATH}/caller"
"""Where the page learns who its caller is."""

_RULES = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'{provider}",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
)
"""Scripts and styles from files of this origin alone, and no request to another one but the provider where people log in."""

_HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept, Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
}
_ASK_AGAIN = "no-cache"
_FOR_GOOD = "public, max-age=31536000, immutable"
"""The names of files carry a digest of their content."""

_NOT_MODIFIED = 304


def is_of_page(path: str) -> bool:
    """Whether a path is that of the page or of one of its files, which hold nothing of anybody."""
    return path == "/" or (path.startswith(f"{PAGE_PATH}/") and path != CALLER_PATH)


def page_routes(login: PageLogin | None = None) -> list[Route]:
    """The routes of the page, to be placed after the route of JSON-RPC: requests that are not a browser's are answered as without them.

    Args:
        login: The login; users enter a key or a token if it is `None`.
    """
    provider = f" {login.origin}" if login else ""
    policy = {"Content-Security-Policy": "; ".join(_RULES).format(provider=provider)}
    login_options = asdict(login) if login else {}

    async def index(request: Request) -> Response:
        found = (await _files()).get(INDEX)
        if found is None or "text/html" not in request.headers.get("accept", ""):
            raise HTTPException(405, headers={"Allow": "POST"})
        return _response(request, found, {"Cache-Control": _ASK_AGAIN, **policy})

    async def how_to_log_in(_request: Request) -> Response:
        return JSONResponse(login_options, headers={**_HEADERS, "Cache-Control": _ASK_AGAIN})

    return [
        Route("/", index, methods=["GET"], name="page"),
        Route(f"{PAGE_PATH}/login.json", how_to_log_in, methods=["GET"], name="page login"),
        Route(CALLER_PATH, whose_page, methods=["GET"], name="page caller"),
        Route(f"{PAGE_PATH}/{{name}}", _file, methods=["GET"], name="page file"),
    ]


async def _file(request: Request) -> Response:
    found = (await _files()).get(request.path_params["name"])
    if found is None or request.path_params["name"] == INDEX:
        raise HTTPException(404)
    policy = {"Content-Security-Policy": "; ".join(_RULES).format(provider="")}
    return _response(request, found, {"Cache-Control": _FOR_GOOD, **policy})


async def _files() -> dict[str, PageFile]:
    return await asyncio.to_thread(page_files)


def _response(request: Request, file: PageFile, own: Mapping[str, str]) -> Response:
    headers = {**_HEADERS, **own, "ETag": file.tag}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=_NOT_MODIFIED, headers=headers)
    packed = "gzip" in request.headers.get("accept-encoding", "")
    if packed:
        headers["Content-Encoding"] = "gzip"
    return Response(
        file.packed if packed else file.content, headers={**headers, "Content-Type": file.media_type}
    )
