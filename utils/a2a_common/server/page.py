"""The page for browsers at `/`, and its files under `/page`. A client that does not ask for HTML sees neither."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from utils.web.built_page import INDEX, PageFile, page_files

PAGE_PATH = "/page"
"""Where the files of the page stand."""

_RULES = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
)
"""Scripts and styles from files of this origin alone, and no request to another one."""

_HEADERS = {
    "Content-Security-Policy": "; ".join(_RULES),
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
    """Whether a path is that of the page or of one of its files."""
    return path == "/" or path.startswith(f"{PAGE_PATH}/")


def page_routes() -> list[Route]:
    """To stand behind the route of JSON-RPC: a request that is not a browser's is answered as without them."""
    return [
        Route("/", _index, methods=["GET"], name="page"),
        Route(f"{PAGE_PATH}/{{name}}", _file, methods=["GET"], name="page file"),
    ]


async def _index(request: Request) -> Response:
    found = (await _files()).get(INDEX)
    if found is None or "text/html" not in request.headers.get("accept", ""):
        raise HTTPException(405, headers={"Allow": "POST"})
    return _response(request, found, _ASK_AGAIN)


async def _file(request: Request) -> Response:
    found = (await _files()).get(request.path_params["name"])
    if found is None or request.path_params["name"] == INDEX:
        raise HTTPException(404)
    return _response(request, found, _FOR_GOOD)


async def _files() -> dict[str, PageFile]:
    return await asyncio.to_thread(page_files)


def _response(request: Request, file: PageFile, cached: str) -> Response:
    headers = {**_HEADERS, "Cache-Control": cached, "ETag": file.tag}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=_NOT_MODIFIED, headers=headers)
    packed = "gzip" in request.headers.get("accept-encoding", "")
    if packed:
        headers["Content-Encoding"] = "gzip"
    return Response(
        file.packed if packed else file.content, headers={**headers, "Content-Type": file.media_type}
    )
