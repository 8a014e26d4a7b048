"""HTTP+JSON routes as an application of their own, so that tenant routes work under any prefix."""

from __future__ import annotations

from a2a.server.request_handlers import RequestHandler
from a2a.server.routes import create_rest_routes
from a2a.server.routes.common import ServerCallContextBuilder
from starlette.applications import Starlette
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Mount

from utils.a2a_common.server.http.answers import http_error, server_error
from utils.a2a_common.server.legacy.rest import legacy_routes
from utils.process_wide import declare


class TenantConvertor(StringConvertor):
    """A first path segment that is not a resource of the protocol.

    The SDK's tenant routes match any first segment, so that a wrong method on `/tasks` would be
    looked up as tenant "tasks" and answered 404 instead of 405.
    """

    regex = r"(?!(?:tasks|v1|extendedAgentCard|card)(?:/|$)|message:)[^/]+"


declare("the path convertors of Starlette", lambda: register_url_convertor("tenant", TenantConvertor()))


def rest_app(handler: RequestHandler, builder: ServerCallContextBuilder, grace: float) -> Starlette:
    """The application; `grace` is seconds that open streams get at shutdown."""
    routes = create_rest_routes(handler, builder, shutdown_grace_period=grace)
    app = Starlette(
        routes=[*legacy_routes(handler, builder, grace), *(_with_tenant_rule(route) for route in routes)],
        exception_handlers={HTTPException: http_error, Exception: server_error},
    )
    app.router.redirect_slashes = False
    return app


def _with_tenant_rule(route: BaseRoute) -> BaseRoute:
    if isinstance(route, Mount) and route.path == "/{tenant}":
        return Mount("/{tenant:tenant}", routes=route.routes)
    return route
