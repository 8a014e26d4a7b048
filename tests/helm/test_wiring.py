"""What the manifests say to each other."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from tests.docs.test_configuration import KNOWN
from tests.helm.cases import ACCEPTED
from tests.helm.chart import CHART, Helm, Manifest, of_kind, pods

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


def test_the_chart_sets_only_variables_that_exist(helm4: Helm):
    for settings in _settings(helm4.render()).values():
        assert set(settings) <= KNOWN


def test_only_the_supervisor_reaches_the_agents(helm4: Helm):
    manifests = helm4.render()
    policies = of_kind(manifests, "NetworkPolicy")
    supervisor = policies["first-platform-engineer-supervisor"]["spec"]
    assert supervisor["ingress"] == [{"ports": [{"port": "http", "protocol": "TCP"}]}]
    for name in ("github", "rag"):
        (rule,) = policies[f"first-platform-engineer-{name}"]["spec"]["ingress"]
        assert rule["from"] == [{"podSelector": supervisor["podSelector"]}]
    assert "ingress" not in policies["first-platform-engineer-test"]["spec"]
    assert len(policies) == len(pods(manifests))


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


def test_a_changed_setting_or_secret_restarts_the_pods(helm4: Helm):
    def sums(values: dict) -> dict[str, str]:
        deployed = of_kind(helm4.render(values), "Deployment")
        return {
            name: str(one["spec"]["template"]["metadata"]["annotations"]) for name, one in deployed.items()
        }

    before = sums({})
    assert all(sums({"settings": {"LOG_LEVEL": "DEBUG"}})[name] != value for name, value in before.items())
    assert all(
        sums({"secrets": {"values": {"OPENAI_API_KEY": "k"}}})[name] != value
        for name, value in before.items()
    )


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
        assert not of_kind(manifests, "HorizontalPodAutoscaler")
        for deployment in of_kind(manifests, "Deployment").values():
            assert deployment["spec"]["replicas"] <= 1
            assert deployment["spec"]["strategy"] == {"type": "Recreate"}


def test_the_test_of_a_release_chats_where_clients_do(helm4: Helm):
    manifests = helm4.render(ACCEPTED["an ingress with TLS"])
    command = pods(manifests)["test"]["containers"][0]["args"]
    address = _settings(manifests)["supervisor"]["PUBLIC_URL"]
    assert command[:3] == ["chat", "--url", address]
    assert address == "https://engineer.example.com"


def test_whole_numbers_arrive_as_written(helm4: Helm):
    settings = _settings(helm4.render(ACCEPTED["a language model"]))
    assert settings["supervisor"]["MAX_BODY_BYTES"] == "8388608"


def test_the_notes_name_the_next_command(helm4: Helm):
    done = helm4.run("install", "blue", str(CHART), "--dry-run=client", "--namespace", "team")
    assert done.returncode == 0, done.stderr
    notes = done.stdout.partition("NOTES:")[2]
    assert "exec -it deployment/blue-platform-engineer-supervisor -- platform-engineer chat" in notes
    assert "helm test blue --namespace team" in notes
