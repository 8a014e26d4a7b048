"""Values that the chart refuses, each with the sentence that says why."""

from __future__ import annotations

from tests.helm.cases import GITHUB, KNOWN, PROMETHEUS
from tests.helm.chart import Values

MISTAKES: dict[str, tuple[Values, str]] = {
    "two replicas": (
        {"supervisor": {"replicas": 2}},
        "a second one would not see them. Set database.existing or database.url",
    ),
    "replicas by load over files": (
        {"supervisor": {"autoscaling": {"enabled": True}, "storage": {"enabled": False}}},
        "supervisor cannot be scaled: its tasks and conversations are in files of one pod",
    ),
    "replicas by load on one volume": (
        {"database": {"existing": "db"}, "supervisor": {"autoscaling": {"enabled": True}}},
        "supervisor cannot be scaled on one volume",
    ),
    "fewer replicas at most than at least": (
        {
            "database": {"existing": "db"},
            "supervisor": {"autoscaling": {"enabled": True, "maxReplicas": 1}, "storage": {"enabled": False}},
        },
        "autoscaling.minReplicas (2) over autoscaling.maxReplicas (1)",
    ),
    "an agent with the name of the job": (
        {"agents": [{"name": "migrate", "port": 8003}]},
        'An agent cannot be called "migrate"',
    ),
    "a pod that is killed while it stops": (
        {"settings": {"SHUTDOWN_GRACE_SECONDS": "60"}},
        "supervisor is killed after terminationGracePeriodSeconds (30)",
    ),
    "an agent that is killed while it stops": (
        {
            "agents": [
                {**GITHUB, "env": {"SHUTDOWN_PAUSE_SECONDS": "25"}, "terminationGracePeriodSeconds": 30}
            ]
        },
        "github is killed after terminationGracePeriodSeconds (30)",
    ),
    "a pod that is killed in the last moment of its process": (
        {"settings": {"SHUTDOWN_PAUSE_SECONDS": 5}, "supervisor": {"env": {"SHUTDOWN_GRACE_SECONDS": 15}}},
        "SHUTDOWN_GRACE_SECONDS and 10 more (5, 15 and 10) to stop in order. Set terminationGracePeriodSeconds higher than 30.",
    ),
    "two replicas of an agent": ({"agents": [{**GITHUB, "replicas": 3}]}, "github cannot have 3 replicas"),
    "two replicas on one volume": (
        {"database": {"existing": "db"}, "supervisor": {"replicas": 2}},
        "supervisor cannot have 2 replicas on one volume",
    ),
    "two databases": (
        {"database": {"existing": "db", "url": "postgresql://a"}},
        "in two ways (existing, url)",
    ),
    "a database as a setting": (
        {"settings": {"DATABASE_URL": "postgresql://a"}},
        "DATABASE_URL cannot stand in settings, which everybody reads who may read a ConfigMap: set database.existing or database.url.",
    ),
    "keys of encryption in two ways": (
        {"encryption": {"existing": "keys", "keys": [f"{'a' * 43}="]}},
        "in two ways (existing, keys)",
    ),
    "keys of encryption as a setting": (
        {"settings": {"ENCRYPTION_KEYS": f"{'a' * 43}="}},
        "ENCRYPTION_KEYS cannot stand in settings, which everybody reads who may read a ConfigMap: set encryption.existing or encryption.keys.",
    ),
    "keys of encryption in a file, for one pod": (
        {"supervisor": {"env": {"ENCRYPTION_KEYS_FILE": "/keys"}}},
        "ENCRYPTION_KEYS_FILE cannot stand in supervisor.env: set encryption.existing or encryption.keys.",
    ),
    "a key of a model as a setting": (
        {"settings": {"OPENAI_API_KEY": "sk-x"}},
        "OPENAI_API_KEY cannot stand in settings, which everybody reads who may read a ConfigMap: set secrets (existing, values or external).",
    ),
    "callers that are known, and a supervisor that is not": (
        {"settings": {"AUTH_MODE": "oidc"}},
        "AUTH_MODE is oidc, and supervisor has no AUTH_SERVICE_KEY, so that the agents would refuse",
    ),
    "callers that are known, and agents that do not know the supervisor": (
        {
            "settings": {"AUTH_MODE": "api-key"},
            "supervisor": {"secrets": {"values": {"AUTH_SERVICE_KEY": "{}"}}},
        },
        "github has no AUTH_SERVICE_PUBLIC_KEY",
    ),
    "the key of the supervisor as a setting": (
        {"settings": {"AUTH_SERVICE_KEY": "{}"}},
        "AUTH_SERVICE_KEY cannot stand in settings, which everybody reads who may read a ConfigMap: set supervisor.secrets.",
    ),
    "the key of the supervisor for every pod": (
        {"secrets": {"values": {"AUTH_SERVICE_KEY": "{}"}}},
        "AUTH_SERVICE_KEY would reach every agent: set it under supervisor.secrets",
    ),
    "the key of the supervisor for every pod, from a store": (
        {"secrets": {"external": {"store": "vault", "keys": {"AUTH_SERVICE_KEY": {"key": "k"}}}}},
        "AUTH_SERVICE_KEY would reach every agent",
    ),
    "the secret of the exchange as a setting": (
        {"settings": {"AUTH_EXCHANGE_CLIENT_SECRET": "s"}},
        "AUTH_EXCHANGE_CLIENT_SECRET cannot stand in settings, which everybody reads who may read a ConfigMap: set supervisor.secrets.",
    ),
    "the secret of the exchange for every pod": (
        {"secrets": {"values": {"AUTH_EXCHANGE_CLIENT_SECRET": "s"}}},
        "AUTH_EXCHANGE_CLIENT_SECRET would reach every agent: set it under supervisor.secrets",
    ),
    "no agents": ({"agents": []}, "the supervisor needs at least one agent"),
    "the same name twice": (
        {"agents": [GITHUB, {"name": "github", "port": 8009}]},
        'Two agents are called "github"',
    ),
    "an agent called supervisor": ({"agents": [{"name": "supervisor", "port": 8009}]}, "cannot be called"),
    "no port": ({"agents": [{"name": "jira"}]}, "needs a port, or the url"),
    "exchange and no url": ({"agents": [{**GITHUB, "exchange": {}}]}, "has exchange and no url"),
    "port and url": ({"agents": [{**GITHUB, "url": "https://a.example.com"}]}, "has a url and a port"),
    "two kinds of secrets": (
        {"secrets": {"existing": "a", "values": {"OPENAI_API_KEY": "k"}}},
        "The secrets of every pod are given in two ways (existing, values); choose one.",
    ),
    "external keys without a store": (
        {"agents": [{**GITHUB, "secrets": {"external": {"keys": {"GITHUB_TOKEN": {"key": "gh"}}}}}]},
        "The external secrets of agent github name keys but no store",
    ),
    "a store without keys": ({"secrets": {"external": {"store": "vault"}}}, "name a store but no keys"),
    "an ingress without a host": ({"ingress": {"enabled": True}}, "The ingress needs a host"),
    "an ingress without authentication": (
        {"ingress": {"enabled": True, "host": "engineer.example.com"}},
        "Set settings.AUTH_MODE to api-key or oidc, or ingress.allowUnauthenticated to true",
    ),
    "an ingress without authentication at the supervisor alone": (
        {
            **KNOWN,
            "ingress": {"enabled": True, "host": "engineer.example.com"},
            "supervisor": {**KNOWN["supervisor"], "env": {"AUTH_MODE": "none"}},
        },
        "The ingress would let everybody in",
    ),
    "a host without an ingress": ({"ingress": {"host": "a.example.com"}}, "the ingress is off"),
    "metrics in two ways": (
        {"metrics": {"annotations": True, "serviceMonitor": {"enabled": True}, "from": [PROMETHEUS]}},
        "would be counted twice; choose one.",
    ),
    "metrics that nobody reaches": (
        {"metrics": {"annotations": True}},
        "set metrics.from to your Prometheus",
    ),
    "what agents are told, by hand": (
        {"settings": {"SUB_AGENTS_SHARES": "github=results"}},
        "SUB_AGENTS_SHARES cannot be set by hand",
    ),
    "two kinds of documents": (
        {"agents": [{"name": "rag", "port": 8002, "documents": {"configMap": "a", "claim": "b"}}]},
        "a configMap or a claim, not both",
    ),
    "a setting that the chart decides": (
        {"settings": {"PUBLIC_URL": "http://a"}},
        "PUBLIC_URL cannot be set by hand",
    ),
    "a certificate by hand": (
        {"settings": {"TLS_CERT_FILE": "/tls/tls.crt"}},
        "TLS_CERT_FILE cannot be set by hand",
    ),
    "the same for one agent": ({"agents": [{**GITHUB, "env": {"PORT": 9000}}]}, "PORT cannot be set by hand"),
    "metrics at the port of an agent": (
        {"mtls": {"existingSecret": "tls"}, "metrics": {"port": 8001}},
        "metrics.port is 8001, where github has its own port",
    ),
    "a port for gRPC that nothing leads to": (
        {"settings": {"GRPC_PORT": 50051}},
        "GRPC_PORT is set for supervisor, and nothing leads to it",
    ),
    "the same of one agent": (
        {"agents": [{**GITHUB, "env": {"GRPC_PORT": "50051"}}]},
        "GRPC_PORT is set for github, and nothing leads to it",
    ),
    "a database behind a closed port": (
        {
            "database": {"url": "postgresql://engineer:s:ecret@db.example.com:6432/engineer"},
            "networkPolicy": {"restrictEgress": True},
        },
        "The database is at port 6432, which networkPolicy.egressPorts does not name",
    ),
    "a database behind a closed port, of two hosts": (
        {
            "database": {"url": "postgres://[2001:db8::1]:443,db.example.com"},
            "networkPolicy": {"restrictEgress": True},
        },
        "The database is at port 5432, which networkPolicy.egressPorts does not name",
    ),
    "the password of a proxy as a setting": (
        {"settings": {"HTTPS_PROXY": "http://engineer:secret@proxy.example.com:3128"}},
        "HTTPS_PROXY has a password and cannot stand in settings, which everybody reads who may read a ConfigMap: set secrets (",
    ),
    "the password of a proxy of one agent": (
        {"agents": [{**GITHUB, "env": {"ALL_PROXY": "engineer:secret@proxy.example.com:3128"}}]},
        "ALL_PROXY has a password and cannot stand in env of agent github, which everybody reads who may read a ConfigMap: set secrets of agent github (",
    ),
}
"""Refused by the chart's own words."""

SCHEMA_MISTAKES: dict[str, tuple[Values, tuple[str, ...]]] = {
    "an agent that is told too much": (
        {"agents": [{**GITHUB, "shares": "everything"}]},
        ("shares", "nothing"),
    ),
    "a misspelled key": ({"ingres": {"enabled": True}}, ("ingres", "dditional propert")),
    "a misspelled key of an agent": (
        {"agents": [{**GITHUB, "prot": 1}]},
        ("agents", "prot", "dditional propert"),
    ),
    "a key of the supervisor in an agent": (
        {"agents": [{**GITHUB, "publicUrl": "https://a.example.com"}]},
        ("agents", "publicUrl"),
    ),
    "a key of agents in the supervisor": (
        {"supervisor": {"port": 8000, "shares": "nothing"}},
        ("supervisor", "shares"),
    ),
    "a key of one pod in the defaults": ({"defaults": {"port": 8000}}, ("defaults", "port")),
    "a page that is a word": ({"defaults": {"web": {"enabled": "no"}}}, ("web", "enabled", "boolean")),
    "a misspelled key of the supervisor": (
        {"supervisor": {"prot": 1}},
        ("supervisor", "prot", "dditional propert"),
    ),
    "a misspelled key of the defaults": (
        {"defaults": {"replicsa": 1}},
        ("defaults", "replicsa", "dditional propert"),
    ),
    "a service type that agents have not": (
        {"agents": [{**GITHUB, "serviceType": "NodePort"}]},
        ("agents", "serviceType", "ClusterIP"),
    ),
    "a port that is a word": ({"agents": [{"name": "github", "port": "http"}]}, ("port", "integer")),
    "a privileged port": ({"supervisor": {"port": 80}}, ("supervisor", "port", "1,?024")),
    "a name with capitals": ({"agents": [{"name": "GitHub", "port": 8001}]}, ("agents", "name", "pattern")),
    "no name": ({"agents": [{"port": 8001}]}, ("agents", "name", "required|missing")),
    "an exchange that may approve": (
        {
            "agents": [
                {
                    "name": "weather",
                    "url": "https://weather.example.com",
                    "exchange": {"audience": "weather", "scope": "agent:weather:approve"},
                }
            ]
        },
        ("scope", "not"),
    ),
    "a misspelled key of mutual TLS": ({"mtls": {"secret": "a"}}, ("mtls", "dditional propert")),
    "a url without a scheme": (
        {"agents": [{"name": "weather", "url": "weather.example.com"}]},
        ("url", "pattern"),
    ),
    "a variable in lower case": ({"settings": {"log_level": "INFO"}}, ("log_level", "pattern")),
    "a size without a unit that exists": (
        {"defaults": {"storage": {"size": "1GB"}}},
        ("storage", "size", "pattern"),
    ),
    "a service type that is none": ({"supervisor": {"serviceType": "Public"}}, ("serviceType", "ClusterIP")),
    "a digest that is a tag": ({"image": {"digest": "latest"}}, ("digest", "pattern")),
    "an interval without a unit": (
        {"metrics": {"serviceMonitor": {"interval": "30"}}},
        ("metrics", "interval", "pattern"),
    ),
    "agents by name": ({"agents": {"github": {"port": 8001}}}, ("agents", "array")),
    "encryption that begins behind a key": (
        {"encryption": {"keys": [f"{'a' * 43}=", "plain"]}},
        ("encryption", "keys", "1", "pattern"),
    ),
}
"""Refused by values.schema.json: the place and what it should be."""
