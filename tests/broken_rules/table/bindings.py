"""JSON-RPC, HTTP+JSON and gRPC, in protocol 1.0 and 0.3."""

from __future__ import annotations

from tests.broken_rules.rules import Rule, broken

_CLIENT = "tests/e2e/wire/test_sdk_client.py::"
_SCOPE = "tests/e2e/wire/test_scope.py::"
_SERVER = "utils/a2a_common/server/app.py"

BINDINGS: tuple[Rule, ...] = (
    Rule(
        "json-rpc",
        "JSON-RPC is served, in 1.0 and 0.3.",
        (
            broken(
                "it stands elsewhere than the card says",
                _SERVER + "::_routes",
                "create_jsonrpc_routes(handler, '/', builder, enable_v0_3_compat=True, shutdown_grace_period=grace)",
                "create_jsonrpc_routes(handler, '/rpc', builder, enable_v0_3_compat=True, shutdown_grace_period=grace)",
                _CLIENT + "test_the_sdks_client_reads_the_card_and_streams",
            ),
            broken(
                "methods of 0.3 are unknown",
                _SERVER + "::_routes",
                "create_jsonrpc_routes(handler, '/', builder, enable_v0_3_compat=True, shutdown_grace_period=grace)",
                "create_jsonrpc_routes(handler, '/', builder, enable_v0_3_compat=False, shutdown_grace_period=grace)",
                _SCOPE + "test_a_request_without_version_is_one_of_0_3",
            ),
        ),
    ),
    Rule(
        "rest",
        "HTTP+JSON is served, in 1.0 and 0.3.",
        (
            broken(
                "it stands elsewhere than the card says",
                _SERVER + "::_routes",
                "Mount('/rest', app=rest_app(handler, builder, grace))",
                "Mount('/http', app=rest_app(handler, builder, grace))",
                _CLIENT + "test_the_sdks_client_reads_the_card_and_streams",
            ),
            broken(
                "paths of 0.3 are unknown",
                "utils/a2a_common/server/http/rest_routes.py::rest_app",
                "legacy_routes(handler, builder, grace)",
                "legacy_routes(handler, builder, grace)[:0]",
                "tests/e2e/wire/test_rest_of_0_3.py::test_rest_of_0_3_sends_streams_and_gets",
            ),
        ),
    ),
    Rule(
        "grpc",
        "gRPC is served, in 1.0 and 0.3 on one port.",
        (
            broken(
                "1.0 is missing",
                "utils/a2a_common/server/grpc/server.py::start_grpc",
                "[(a2a_pb2_grpc, CurrentGrpc(handler, builder(CURRENT))), (a2a_v0_3_pb2_grpc, LegacyGrpc(handler, builder(LEGACY)))]",
                "[(a2a_v0_3_pb2_grpc, LegacyGrpc(handler, builder(LEGACY)))]",
                _CLIENT + "test_grpc_answers_and_streams",
            ),
            broken(
                "0.3 is missing",
                "utils/a2a_common/server/grpc/server.py::start_grpc",
                "[(a2a_pb2_grpc, CurrentGrpc(handler, builder(CURRENT))), (a2a_v0_3_pb2_grpc, LegacyGrpc(handler, builder(LEGACY)))]",
                "[(a2a_pb2_grpc, CurrentGrpc(handler, builder(CURRENT)))]",
                _CLIENT + "test_grpc_speaks_0_3_on_the_same_port",
            ),
            broken(
                "any version is answered",
                "utils/a2a_common/server/grpc/server.py::GrpcCallContextBuilder.build",
                "served_version(_metadata(context).get(VERSION_HEADER.lower(), ''))",
                "_ = served_version",
                _CLIENT + "test_grpc_refuses_another_version_and_an_anonymous_extended_card",
            ),
        ),
    ),
    Rule(
        "version",
        "Versions are 1.0 and 0.3; none means 0.3, another one is refused.",
        (
            broken(
                "every 1.x will do",
                "utils/a2a_common/server/call_context.py",
                "'(?P<line>1\\\\.0|0\\\\.3)(\\\\.\\\\d{1,9})?'",
                "'(?P<line>1\\\\.\\\\d|0\\\\.3)(\\\\.\\\\d{1,9})?'",
                _SCOPE + "test_another_version_is_refused",
            ),
            broken(
                "no version means the newest",
                "utils/a2a_common/server/call_context.py::served_version",
                "return LEGACY",
                "return '1.0'",
                _SCOPE + "test_a_request_without_version_is_one_of_0_3",
            ),
        ),
    ),
)
