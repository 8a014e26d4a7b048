"""What the manifests say to each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.docs.test_configuration import KNOWN
from tests.helm.cases import ACCEPTED, GITHUB
from tests.helm.chart import CHART, Helm, Manifest, Values, of_kind, pods
from utils.a2a_common.client.agents.agents_file import parse_sub_agents, with_exchange, with_shares
from utils.a2a_common.protocol.exchange import ExchangeFor

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]


def _settings(manifests: list[Manifest]) -> dict[str, dict[str, str]]:
    """The settings of each component, from its config map."""
    label = "app.kubernetes.io/component"
    return {one["metadata"]["labels"][label]: one["data"] for one in of_kind(manifests, "ConfigMap").values()}


def test_the_supervisor_finds_every_agent_at_its_service(helm4: Helm):
    manifests = helm4.render(ACCEPTED["an agent that runs elsewhere"])
    settings, services = _settings(manifests), of_kind(manifests, "Service")
    agents = dict(pair.split("=", 1) for pair in settings["supervisor"]["SUB_AGENTS"].split(","))
    assert agents["weather"] == "https://weather.example.com"
    assert agents["github"] == settings["github"]["PUBLIC_URL"], "the card names another address"
    address = urlsplit(agents["github"])
    assert services[address.hostname or ""]["spec"]["ports"][0]["port"] == address.port


def test_an_agent_that_runs_elsewhere_gets_no_pod(helm4: Helm):
    assert set(pods(helm4.render(ACCEPTED["an agent that runs elsewhere"]))) == {
        "supervisor",
        "github",
        "test",
    }


def test_the_supervisor_exchanges_tokens_for_the_agents_that_want_them(helm4: Helm):
    told = _settings(helm4.render(ACCEPTED["an agent that is asked with an exchanged token"]))["supervisor"]
    exchanged = with_exchange(parse_sub_agents(told["SUB_AGENTS"]), told["SUB_AGENTS_EXCHANGE"])
    assert {each.name: each.exchange for each in exchanged} == {
        "github": None,
        "weather": ExchangeFor("weather-api", ("read", "write")),
        "maps": ExchangeFor(),
    }
    assert "SUB_AGENTS_EXCHANGE" not in _settings(helm4.render({}))["supervisor"]


def test_the_page_is_switched_off_for_every_pod_or_for_one(helm: Helm):
    def pages(values: Values) -> dict[str, str]:
        return {name: told.get("WEB_PAGE", "") for name, told in _settings(helm.render(values)).items()}

    off = {"web": {"enabled": False}}
    assert pages({}) == {"supervisor": "", "github": "", "rag": ""}
    assert set(pages({"defaults": off}).values()) == {"false"}
    assert pages({"supervisor": off}) == {"supervisor": "false", "github": "", "rag": ""}
    assert pages({"agents": [{**GITHUB, **off}]}) == {"supervisor": "", "github": "false"}
    assert set(pages({"defaults": {**off, "env": {"WEB_PAGE": "true"}}}).values()) == {"false"}
    assert set(pages({"defaults": {"env": {"WEB_PAGE": "false"}}}).values()) == {"false"}


def test_the_notes_name_the_page_where_there_is_one(helm4: Helm):
    def notes(values: Values) -> str:
        done = helm4.run("install", "first", str(CHART), "--dry-run=client", values=values)
        assert done.returncode == 0, done.stderr
        return done.stdout.partition("NOTES:")[2]

    shown = "Its page for browsers: http://"
    assert shown in notes({})
    assert shown not in notes({"supervisor": {"web": {"enabled": False}}})


def test_the_chart_sets_only_variables_that_exist(helm4: Helm):
    for settings in _settings(helm4.render()).values():
        assert set(settings) <= KNOWN | {"NO_PROXY"}


def test_only_the_supervisor_reaches_the_agents(helm4: Helm):
    manifests = helm4.render()
    policies = of_kind(manifests, "NetworkPolicy")
    supervisor = policies["first-platform-engineer-supervisor"]["spec"]
    for name in ("github", "rag"):
        (rule,) = policies[f"first-platform-engineer-{name}"]["spec"]["ingress"]
        assert rule["from"] == [{"podSelector": supervisor["podSelector"]}]
    assert "ingress" not in policies["first-platform-engineer-test"]["spec"]
    assert len(policies) == len(pods(manifests))


@pytest.mark.parametrize("values", ACCEPTED.values(), ids=list(ACCEPTED))
def test_every_pod_is_selected_by_one_policy_where_there_are_any(helm4: Helm, values: Values):
    manifests = helm4.render(values)
    policies = of_kind(manifests, "NetworkPolicy")
    if not values.get("networkPolicy", {}).get("enabled", True):
        assert not policies
        return
    selectors = [policy["spec"]["podSelector"] for policy in policies.values()]
    running = [one for one in manifests if one["kind"] in {"Deployment", "Job", "Pod"}]
    for pod in [one["spec"].get("template", one) for one in running]:
        labels = pod["metadata"]["labels"]
        assert sum(_selects(each, labels) for each in selectors) == 1, labels


def test_the_migration_reaches_no_more_than_the_pods_do_and_is_reached_by_nobody(helm4: Helm):
    narrow = {"restrictEgress": True, "egressPorts": [5432]}
    values = {"database": {"existing": "pg"}, "networkPolicy": narrow}
    migration = of_kind(helm4.render(values), "NetworkPolicy")["first-platform-engineer-migrate"]["spec"]
    assert "ingress" not in migration
    assert migration["policyTypes"] == ["Ingress", "Egress"]
    (rule,) = migration["egress"]
    assert [port["port"] for port in rule["ports"]] == [53, 53, 5432]


OUTSIDE: dict[str, Values] = {
    "a load balancer": {"supervisor": {"serviceType": "LoadBalancer"}},
    "an ingress": ACCEPTED["an ingress without TLS"],
    "a pod network": {"networkPolicy": {"podNetworks": ["10.244.0.0/16", "fd00:10:244::/56"]}},
}


def _lets_in(helm: Helm, values: Values, labels: Mapping[str, str], space: str = "team") -> bool:
    """Whether the supervisor's policy lets a pod in, by its labels and its namespace."""
    policy = of_kind(helm.render(values), "NetworkPolicy")["first-platform-engineer-supervisor"]
    (rule,) = policy["spec"]["ingress"]
    assert rule["ports"] == [{"port": "http", "protocol": "TCP"}]
    peers = [peer for peer in rule["from"] if "ipBlock" not in peer]
    return any(
        _selects(peer["namespaceSelector"], {"kubernetes.io/metadata.name": space})
        if "namespaceSelector" in peer
        else space == "team" and _selects(peer["podSelector"], labels)
        for peer in peers
    )


def _selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """What Kubernetes says: a label that is missing is in no set, and so not in any."""
    wanted = selector.get("matchLabels", {})
    ways = {"In": True, "NotIn": False}
    return wanted.items() <= labels.items() and all(
        (labels.get(one["key"]) in one["values"]) is ways[one["operator"]]
        for one in selector.get("matchExpressions", ())
    )


@pytest.mark.parametrize("values", [{}, *OUTSIDE.values()], ids=["nothing set", *OUTSIDE])
def test_an_agents_pod_does_not_reach_the_supervisor_and_every_other_pod_does(helm4: Helm, values: Values):
    manifests = helm4.render(values)
    found = {
        component: one["spec"]["template"]["metadata"]["labels"]
        for one in of_kind(manifests, "Deployment").values()
        for component in [one["metadata"]["labels"]["app.kubernetes.io/component"]]
    }
    assert {name for name, labels in found.items() if _lets_in(helm4, values, labels)} == {"supervisor"}
    (test,) = [one for one in manifests if one["kind"] == "Pod"]
    assert _lets_in(helm4, values, test["metadata"]["labels"])
    agent = found["github"]
    assert _lets_in(helm4, values, {"app": "web"})
    assert _lets_in(helm4, values, agent | {"app.kubernetes.io/instance": "second"})
    assert _lets_in(helm4, values, agent | {"app.kubernetes.io/name": "another-chart"})
    assert _lets_in(helm4, values, agent, space="ingress-nginx")


def test_addresses_are_let_in_only_where_the_outside_is_and_those_of_pods_are_left_out(helm4: Helm):
    def blocks(values: Values) -> list[Any]:
        policy = of_kind(helm4.render(values), "NetworkPolicy")["first-platform-engineer-supervisor"]
        return [peer["ipBlock"] for peer in policy["spec"]["ingress"][0]["from"] if "ipBlock" in peer]

    assert blocks({}) == []  # an address rule takes in pods, too, in many networks
    everywhere = [{"cidr": "0.0.0.0/0"}, {"cidr": "::/0"}]
    assert blocks(OUTSIDE["a load balancer"]) == blocks(OUTSIDE["an ingress"]) == everywhere
    assert blocks(OUTSIDE["a pod network"]) == [
        {"cidr": "0.0.0.0/0", "except": ["10.244.0.0/16"]},
        {"cidr": "::/0", "except": ["fd00:10:244::/56"]},
    ]


def test_agents_of_the_chart_are_told_results_and_those_that_run_elsewhere_what_is_said_of_them(helm4: Helm):
    weather = {"name": "weather", "url": "https://weather.example.com"}
    agents = [
        GITHUB,
        weather,
        {**weather, "name": "b", "shares": "request"},
        {**GITHUB, "name": "c", "port": 8005},
    ]
    agents[-1]["shares"] = "nothing"
    listed = _settings(helm4.render({"agents": agents}))["supervisor"]
    entries = with_shares(parse_sub_agents(listed["SUB_AGENTS"]), listed["SUB_AGENTS_SHARES"])
    assert {entry.name: entry.shares for entry in entries} == {
        "github": "results",
        "weather": "nothing",
        "b": "request",
        "c": "nothing",
    }


def test_narrow_policies_let_the_test_and_the_named_peers_in(helm4: Helm):
    policy = of_kind(helm4.render(ACCEPTED["narrow network policies"]), "NetworkPolicy")
    supervisor = policy["first-platform-engineer-supervisor"]["spec"]
    test, peer = supervisor["ingress"][0]["from"]
    assert test["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "test"
    assert peer == {"namespaceSelector": {"matchLabels": {"team": "platform"}}}
    assert supervisor["policyTypes"] == ["Ingress", "Egress"]
    agent = policy["first-platform-engineer-github"]["spec"]["ingress"][0]["from"]
    assert agent == [
        {"podSelector": supervisor["podSelector"]},
        {"podSelector": {"matchLabels": {"app": "prometheus"}}},
    ]


def test_two_releases_in_one_namespace_share_nothing(helm4: Helm):
    def names(release: str) -> set[tuple[str, str]]:
        return {(one["kind"], one["metadata"]["name"]) for one in helm4.render(release=release)}

    long = "a-release-with-a-very-long-name-number"
    assert not names("blue") & names("green")
    assert not names(f"{long}-one") & names(f"{long}-two")
    assert all(len(name) <= 63 for _, name in names(f"{long}-one"))


def test_two_releases_select_only_their_own_pods(helm4: Helm):
    one, two = (of_kind(helm4.render(release=name), "Service") for name in ("blue", "green"))
    selectors = [frozenset(s["spec"]["selector"].items()) for s in (*one.values(), *two.values())]
    assert len(set(selectors)) == len(selectors)


def test_one_agents_secret_reaches_no_other_pod(helm4: Helm):
    manifests = helm4.render(ACCEPTED["created secrets"])
    holders = {
        component: [
            one["secretRef"]["name"] for one in pod["containers"][0].get("envFrom", []) if "secretRef" in one
        ]
        for component, pod in pods(manifests).items()
    }
    shared, own = "first-platform-engineer-secrets", "first-platform-engineer-github-secrets"
    assert holders == {"supervisor": [shared], "github": [shared, own], "test": []}
    assert set(of_kind(manifests, "Secret")) == {shared, own}


@pytest.mark.parametrize("case", ACCEPTED)
def test_every_pod_is_restricted_and_has_no_token(helm4: Helm, case: str):
    manifests = helm4.render(ACCEPTED[case])
    for pod in pods(manifests).values():
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        (container,) = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_the_log_of_the_supervisor_is_where_operators_look_for_it(helm4: Helm):
    names = {name: pod["containers"][0]["name"] for name, pod in pods(helm4.render()).items()}
    assert names["supervisor"] == "caipe-supervisor"
    assert names["github"] == names["rag"] == "agent"


def test_probes_ask_over_http(helm4: Helm):
    for name, pod in pods(helm4.render()).items():
        if name != "test":
            (container,) = pod["containers"]
            paths = {
                kind: container[f"{kind}Probe"]["httpGet"]["path"]
                for kind in ("startup", "liveness", "readiness")
            }
            assert paths == {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}


def test_nothing_scales_over_state_in_files(helm4: Helm):
    for values in ACCEPTED.values():
        manifests = helm4.render(values)
        scaled = of_kind(manifests, "HorizontalPodAutoscaler")
        for name, deployment in of_kind(manifests, "Deployment").items():
            volumes = {each["name"]: each for each in deployment["spec"]["template"]["spec"]["volumes"]}
            if not values.get("database") or "persistentVolumeClaim" in volumes["data"]:
                assert name not in scaled
                assert deployment["spec"]["replicas"] <= 1
                assert deployment["spec"]["strategy"] == {"type": "Recreate"}


def test_what_is_scaled_by_load_has_no_number_of_replicas_of_its_own(helm4: Helm):
    manifests = helm4.render(ACCEPTED["replicas by load over a database"])
    ((name, scaler),) = of_kind(manifests, "HorizontalPodAutoscaler").items()
    deployment = of_kind(manifests, "Deployment")[name]
    assert "replicas" not in deployment["spec"]
    assert deployment["spec"]["strategy"]["type"] == "RollingUpdate"
    assert deployment["spec"]["template"]["spec"]["topologySpreadConstraints"]
    assert list(of_kind(manifests, "PodDisruptionBudget")) == [name]
    spec = scaler["spec"]
    assert (spec["scaleTargetRef"]["name"], spec["minReplicas"], spec["maxReplicas"]) == (name, 2, 8)
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["requests"]["cpu"], "the load is a share of it"


@pytest.mark.parametrize("case", ["several replicas over a database", "a database by its address"])
def test_the_tables_are_upgraded_before_the_pods_of_a_new_version_start(helm4: Helm, case: str):
    manifests = helm4.render(ACCEPTED[case])
    (job,) = of_kind(manifests, "Job").values()
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    (container,) = pods(manifests)["migrate"]["containers"]
    assert container["args"] == ["db", "upgrade"]
    assert "serviceAccountName" not in pods(manifests)["migrate"], "it is made after the hook"
    ((source,),) = (each.values() for each in container["envFrom"])
    made = of_kind(manifests, "Secret").get(source["name"])
    if made is None:
        assert source["name"] == ACCEPTED[case]["database"]["existing"]
    else:
        assert made["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
        assert int(made["metadata"]["annotations"]["helm.sh/hook-weight"]) < 0


def test_no_job_runs_without_a_database_or_where_it_is_turned_off(helm4: Helm):
    for case in ("nothing set", "replicas by load over a database"):
        assert not of_kind(helm4.render(ACCEPTED[case]), "Job")


def test_replicas_over_a_database_roll_stand_apart_and_are_not_all_taken_away_at_once(helm4: Helm):
    manifests = helm4.render(ACCEPTED["several replicas over a database"])
    deployments = of_kind(manifests, "Deployment")
    assert [each["spec"]["replicas"] for each in deployments.values()] == [2, 3, 1]
    for name in list(deployments)[:2]:
        spec = deployments[name]["spec"]
        assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
        assert (
            spec["template"]["spec"]["topologySpreadConstraints"][0]["whenUnsatisfiable"] == "ScheduleAnyway"
        )
        budget = of_kind(manifests, "PodDisruptionBudget")[name]["spec"]
        assert budget["maxUnavailable"] == 1
        assert budget["selector"] == spec["selector"]
        assert {"secretRef": {"name": "engineer-database"}} in spec["template"]["spec"]["containers"][0][
            "envFrom"
        ]
    assert len(of_kind(manifests, "PodDisruptionBudget")) == 2


def test_the_address_of_a_database_is_in_a_secret_alone(helm4: Helm):
    manifests = helm4.render(ACCEPTED["a database by its address"])
    secrets = of_kind(manifests, "Secret").values()
    for each in secrets:
        assert each["stringData"] == {"DATABASE_URL": "postgresql://engineer:secret@db.example.com/engineer"}
    (secret,) = [each for each in secrets if "annotations" not in each["metadata"]]
    for deployment in of_kind(manifests, "Deployment").values():
        container = deployment["spec"]["template"]["spec"]["containers"][0]
        assert {"secretRef": {"name": secret["metadata"]["name"]}} in container["envFrom"]
    others = [each for each in manifests if each["kind"] != "Secret"]
    assert "engineer:secret" not in str(others)


def test_the_keys_of_encryption_reach_every_pod_from_a_secret_alone(helm4: Helm):
    manifests = helm4.render(ACCEPTED["keys of encryption"])
    (secret,) = of_kind(manifests, "Secret").values()
    assert secret["stringData"] == {"ENCRYPTION_KEYS": f"{'a' * 43}=,{'b' * 43}="}
    assert "a" * 43 not in str([each for each in manifests if each["kind"] != "Secret"])
    existing = helm4.render(ACCEPTED["keys of encryption in a secret"])
    for rendered, name in ((manifests, secret["metadata"]["name"]), (existing, "engineer-keys")):
        deployments = of_kind(rendered, "Deployment").values()
        assert len(deployments) == 3
        for deployment in deployments:
            container = deployment["spec"]["template"]["spec"]["containers"][0]
            assert {"secretRef": {"name": name}} in container["envFrom"]
    assert not of_kind(existing, "Secret")


def test_the_test_of_a_release_chats_where_clients_do(helm4: Helm):
    manifests = helm4.render(ACCEPTED["an ingress with TLS"])
    command = pods(manifests)["test"]["containers"][0]["args"]
    address = _settings(manifests)["supervisor"]["PUBLIC_URL"]
    assert command[:3] == ["chat", "--url", address]
    assert address == "https://engineer.example.com"


def test_whole_numbers_arrive_as_written(helm4: Helm):
    settings = _settings(helm4.render(ACCEPTED["a language model"]))
    assert settings["supervisor"]["MAX_BODY_BYTES"] == "8388608"


def test_settings_of_one_agent_reach_its_pod_and_no_other(helm4: Helm):
    own = {"MAX_CONTEXT_TOKENS": 32000, "CONTEXT_POLICY": "caipe"}
    manifests = helm4.render({"agents": [{**GITHUB, "env": own}, {"name": "rag", "port": 8002}]})
    settings = _settings(manifests)
    assert settings["github"]["MAX_CONTEXT_TOKENS"] == "32000"
    assert settings["github"]["CONTEXT_POLICY"] == "caipe"
    assert not set(own) & (set(settings["rag"]) | set(settings["supervisor"]))


def test_the_notes_name_the_next_command(helm4: Helm):
    done = helm4.run("install", "blue", str(CHART), "--dry-run=client", "--namespace", "team")
    assert done.returncode == 0, done.stderr
    notes = done.stdout.partition("NOTES:")[2]
    assert "exec -it deployment/blue-platform-engineer-supervisor -- platform-engineer chat" in notes
    assert "helm test blue --namespace team" in notes
