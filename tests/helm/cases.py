"""Values that the chart accepts, one set for each switch."""

from __future__ import annotations

from typing import Any

from tests.helm.chart import Values

GITHUB: dict[str, Any] = {"name": "github", "port": 8001}
PROMETHEUS: dict[str, Any] = {
    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}
}

KNOWN: Values = {
    "settings": {
        "AUTH_MODE": "oidc",
        "AUTH_ISSUERS": "https://login.example.com",
        "AUTH_SERVICE_PUBLIC_KEY": "{}",
    },
    "supervisor": {"secrets": {"existing": "service-key"}},
}
"""Callers are known."""

ACCEPTED: dict[str, Values] = {
    "nothing set": {},
    "one more agent": {
        "agents": [
            GITHUB,
            {
                "name": "jira",
                "port": 8003,
                "env": {"JIRA_URL": "https://jira.example.com"},
                "secrets": {"existing": "jira"},
            },
        ]
    },
    "an agent that runs elsewhere": {
        "agents": [GITHUB, {"name": "weather", "url": "https://weather.example.com"}]
    },
    "an agent that runs elsewhere and is told the request": {
        "agents": [GITHUB, {"name": "weather", "url": "https://weather.example.com", "shares": "request"}]
    },
    "an agent that is asked with an exchanged token": {
        "agents": [
            GITHUB,
            {
                "name": "weather",
                "url": "https://weather.example.com",
                "exchange": {"audience": "weather-api", "scope": "read write"},
            },
            {"name": "maps", "url": "https://maps.example.com", "exchange": {}},
        ]
    },
    "an agent with an image of its own": {
        "agents": [{**GITHUB, "image": "registry.example.com/gh:2", "args": ["serve", "gh.agent:Gh"]}]
    },
    "an existing secret": {"secrets": {"existing": "model-keys"}},
    "created secrets": {
        "secrets": {"values": {"OPENAI_API_KEY": "k"}},
        "agents": [{**GITHUB, "secrets": {"values": {"GITHUB_TOKEN": "t"}}}],
    },
    "external secrets": {
        "secrets": {
            "external": {
                "store": "vault",
                "storeKind": "ClusterSecretStore",
                "keys": {"OPENAI_API_KEY": {"key": "platform/openai", "property": "api-key"}},
            }
        }
    },
    "a language model": {
        "settings": {"LLM_PROVIDER": "openai", "LLM_MODEL": "gpt-4.1", "MAX_BODY_BYTES": 8388608}
    },
    "an ingress with TLS": {
        **KNOWN,
        "ingress": {
            "enabled": True,
            "className": "nginx",
            "host": "engineer.example.com",
            "tlsSecret": "engineer-tls",
            "annotations": {"nginx.ingress.kubernetes.io/proxy-buffering": "off"},
        },
    },
    "an ingress without TLS": {**KNOWN, "ingress": {"enabled": True, "host": "engineer.example.com"}},
    "an ingress for everybody": {
        "ingress": {"enabled": True, "host": "engineer.example.com", "allowUnauthenticated": True}
    },
    "no network policies": {"networkPolicy": {"enabled": False}},
    "narrow network policies": {
        "networkPolicy": {
            "restrictEgress": True,
            "egressPorts": [443, 8443],
            "agentsFrom": [{"podSelector": {"matchLabels": {"app": "prometheus"}}}],
            "supervisorFrom": [{"namespaceSelector": {"matchLabels": {"team": "platform"}}}],
        }
    },
    "no storage": {"defaults": {"storage": {"enabled": False}}},
    "storage of one's own": {
        "defaults": {"storage": {"storageClass": "fast", "size": "20Gi", "keep": True}},
        "supervisor": {"storage": {"existingClaim": "old-data"}},
    },
    "documents from a config map": {
        "agents": [{"name": "rag", "port": 8002, "documents": {"configMap": "handbook"}}]
    },
    "documents from a volume": {
        "agents": [
            {
                "name": "rag",
                "port": 8002,
                "documents": {"claim": "handbook"},
                "env": {"RAG_SOURCES": "/documents/a"},
            }
        ]
    },
    "a service account of one's own": {"serviceAccount": {"create": False, "name": "workload"}},
    "a private registry": {
        "image": {
            "repository": "registry.example.com/pe",
            "digest": "sha256:" + "0" * 64,
            "pullPolicy": "Always",
        },
        "imagePullSecrets": [{"name": "registry"}],
    },
    "a load balancer": {
        "supervisor": {
            "serviceType": "LoadBalancer",
            "publicUrl": "https://pe.example.com/",
            "allowedHosts": ["pe.internal"],
        }
    },
    "places to run": {
        "defaults": {
            "nodeSelector": {"disk": "ssd"},
            "tolerations": [{"key": "agents", "operator": "Exists"}],
            "affinity": {"podAntiAffinity": {}},
            "priorityClassName": "services",
            "podLabels": {"team": "platform"},
            "podAnnotations": {"prometheus.io/scrape": "true"},
            "resources": {"limits": {"memory": "2Gi"}},
        }
    },
    "metrics by annotations": {
        "metrics": {"annotations": True},
        "networkPolicy": {"enabled": False},
        "defaults": {"podAnnotations": {"prometheus.io/path": "/elsewhere"}},
    },
    "metrics by a service monitor": {
        "metrics": {
            "serviceMonitor": {"enabled": True, "interval": "1m", "labels": {"release": "prometheus"}},
            "from": [PROMETHEUS],
        },
        "networkPolicy": {"supervisorFrom": [{"podSelector": {}}]},
    },
    "no page for browsers": {"defaults": {"web": {"enabled": False}}},
    "turned off": {"defaults": {"replicas": 0}},
    "several replicas over a database": {
        "database": {"existing": "engineer-database"},
        "defaults": {"storage": {"enabled": False}},
        "supervisor": {"replicas": 2},
        "agents": [{**GITHUB, "replicas": 3}, {"name": "rag", "port": 8002, "storage": {"enabled": True}}],
    },
    "replicas by load over a database": {
        "database": {"existing": "engineer-database", "migrate": False},
        "supervisor": {"autoscaling": {"enabled": True, "maxReplicas": 8}, "storage": {"enabled": False}},
    },
    "a database by its address": {
        "database": {"url": "postgresql://engineer:secret@db.example.com/engineer"}
    },
    "keys of encryption": {"encryption": {"keys": [f"{'a' * 43}=", f"{'b' * 43}="]}},
    "encryption that has not begun": {"encryption": {"keys": ["plain", f"{'a' * 43}=", f"{'b' * 43}="]}},
    "callers that are known": {
        "settings": {
            "AUTH_MODE": "oidc",
            "AUTH_ISSUERS": "https://a.example.com",
            "AUTH_SERVICE_PUBLIC_KEY": "{}",
        },
        "supervisor": {"secrets": {"values": {"AUTH_SERVICE_KEY": "{}"}}},
        "test": {"existing": "engineer-test"},
    },
    "callers that are known, with keys in secrets": {
        "settings": {"AUTH_MODE": "api-key"},
        "supervisor": {"secrets": {"existing": "engineer-supervisor"}},
        "agents": [
            {
                **GITHUB,
                "secrets": {
                    "external": {"store": "vault", "keys": {"AUTH_SERVICE_PUBLIC_KEY": {"key": "service"}}}
                },
            }
        ],
    },
    "callers that are known, and no agents of one's own": {
        "settings": {"AUTH_MODE": "api-key"},
        "agents": [{"name": "weather", "url": "https://weather.example.com"}],
    },
    "callers that are known of one agent alone": {
        "agents": [{**GITHUB, "env": {"AUTH_MODE": "api-key", "AUTH_SERVICE_PUBLIC_KEY": "{}"}}],
    },
    "a company's proxy": {
        "settings": {
            "HTTP_PROXY": "http://proxy.example.com:3128",
            "HTTPS_PROXY": "http://proxy.example.com:3128",
            "NO_PROXY": "localhost,.svc,.cluster.local,10.0.0.0/8",
        },
    },
    "a company's proxy that wants a password": {
        "database": {"existing": "engineer-database"},
        "secrets": {"values": {"HTTPS_PROXY": "http://engineer:secret@proxy.example.com:3128"}},
    },
    "a database and a proxy that may be reached": {
        "database": {"url": "postgresql://engineer:secret@db.example.com/engineer"},
        "networkPolicy": {"restrictEgress": True, "egressPorts": [443, 3128, 5432]},
    },
    "a database by its socket, and connections that are restricted": {
        "database": {"url": "postgresql://engineer@/engineer?host=/var/run/postgresql"},
        "networkPolicy": {"restrictEgress": True},
    },
    "changes for callers that are known": {
        **KNOWN,
        "agents": [{**GITHUB, "env": {"GITHUB_WRITE": True}}],
    },
    "gRPC through a service of one's own": {
        "settings": {"GRPC_PORT": 50051},
        "networkPolicy": {"enabled": False},
    },
    "mutual TLS": {"mtls": {"existingSecret": "engineer-tls"}},
    "keys of encryption in a secret": {"encryption": {"existing": "engineer-keys"}},
}
