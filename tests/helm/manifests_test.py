"""What the chart makes of each documented values file is what Kubernetes takes.

    python -m tests.helm.manifests_test
"""

import unittest

import kubernetes_validate

from tests.helm.chart import (
    CHART, EXAMPLES, MINIMAL, VERSIONS, helm, of_kind, only, pod_specs, template,
)
from tests.helm.restricted import violations

# Of operators; Kubernetes itself knows no shape of them.
CUSTOM = {"ServiceMonitor", "PrometheusRule", "ScaledObject"}


class Manifests(unittest.TestCase):
    def test_lints_without_a_warning(self):
        for file in EXAMPLES:
            with self.subTest(file.name):
                code, out, err = helm("lint", "--strict", CHART, "--values", file)
                self.assertEqual(code, 0, out + err)
                self.assertNotIn("WARNING", out)

    def test_has_the_shapes_of_three_versions_of_kubernetes(self):
        for file in EXAMPLES:
            with self.subTest(file.name):
                for version in VERSIONS:
                    objects = template(file, version)
                    for each in objects:
                        if each["kind"] in CUSTOM:
                            continue
                        kubernetes_validate.validate(each, version, strict=True)
                    self.assertTrue(of_kind(objects, "Deployment"))

    def test_a_wrong_shape_would_be_found(self):
        deployment = only(template(MINIMAL), "Deployment")
        deployment["spec"]["template"]["spec"]["containers"][0]["livenessProbe"]["grpcs"] = {}
        for version in VERSIONS:
            with self.assertRaises(kubernetes_validate.ValidationError):
                kubernetes_validate.validate(deployment, version, strict=True)

    def test_objects_have_names_of_their_own_and_the_labels_of_the_release(self):
        for file in EXAMPLES:
            with self.subTest(file.name):
                objects = template(file)
                names = [(each["kind"], each["metadata"]["name"]) for each in objects]
                self.assertEqual(len(names), len(set(names)))
                for each in objects:
                    labels = each["metadata"]["labels"]
                    self.assertEqual(labels["app.kubernetes.io/name"], "sinkd")
                    self.assertEqual(labels["app.kubernetes.io/instance"], "sinks")

    def test_pods_are_as_pod_securitys_restricted_level_demands(self):
        for file in EXAMPLES:
            with self.subTest(file.name):
                pods = dict(pod_specs(template(file)))
                self.assertIn("Deployment/sinks-sinkd", pods)
                for name, spec in pods.items():
                    self.assertEqual(violations(spec), [], name)

    def test_pods_cannot_write_their_root_or_call_kubernetes(self):
        for file in EXAMPLES:
            with self.subTest(file.name):
                for name, spec in pod_specs(template(file)):
                    self.assertIs(spec["automountServiceAccountToken"], False, name)
                    self.assertIs(spec["enableServiceLinks"], False, name)
                    for container in spec["containers"] + spec.get("initContainers", []):
                        self.assertIs(container["securityContext"]["readOnlyRootFilesystem"], True)
                        self.assertIn("memory", container["resources"]["limits"], name)

    def test_every_mount_has_its_volume(self):
        for file in EXAMPLES:
            with self.subTest(file.name):
                for name, spec in pod_specs(template(file)):
                    volumes = {each["name"] for each in spec.get("volumes", [])}
                    mounts = {mount["name"]
                              for container in spec["containers"] + spec.get("initContainers", [])
                              for mount in container["volumeMounts"]}
                    self.assertEqual(mounts, volumes, name)

    def test_values_that_yaml_would_take_for_something_else_stay_text(self):
        values = {"models": {"existingClaim": "1000"}, "config": {"load": ["123"], "device": "no"},
                  "store": {"kind": "postgres", "postgres": {"existingSecret": "0x1"}},
                  "tls": {"existingSecret": "12"}, "tokens": {"existingSecret": "1.5"},
                  "client": {"token": {"existingSecret": "2"}}, "priorityClassName": "5", "gpu": {"runtimeClass": "6"},
                  "test": {"text": "- a: \"b\" # c"},
                  "shardedJob": {"enabled": True, "model": "77", "run": "78", "arguments": ["1"],
                                 "corpus": {"existingClaim": "79", "files": ["80"]}}}
        for each in template(values):
            if each["kind"] not in CUSTOM:
                kubernetes_validate.validate(each, VERSIONS[1], strict=True)
        (container,) = only(template(values), "Pod")["spec"]["containers"]
        self.assertEqual(container["args"][1:3], ["123", "--text=- a: \"b\" # c"])

    def test_services_and_budget_and_policy_choose_the_servers_and_nothing_else(self):
        objects = template(CHART / "examples" / "sharded-job.yaml")
        server = only(objects, "Deployment")["spec"]["template"]["metadata"]["labels"]
        others = [only(objects, "Job")["spec"]["template"]["metadata"]["labels"],
                  only(objects, "Pod")["metadata"]["labels"]]
        policy = only(objects, "NetworkPolicy")["spec"]
        choices = [each["spec"]["selector"] for each in of_kind(objects, "Service")]
        choices += [only(objects, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
                    policy["podSelector"]["matchLabels"]]
        self.assertEqual(len(choices), 4)
        for choice in choices:
            self.assertLessEqual(choice.items(), server.items())
            for labels in others:
                self.assertFalse(choice.items() <= labels.items())
        client = policy["ingress"][0]["from"][0]["podSelector"]["matchLabels"]
        for labels in others:
            self.assertLessEqual(client.items(), labels.items())

    def test_a_change_of_the_settings_replaces_the_pods_and_a_new_chart_alone_does_not(self):
        def pod(**config):
            values = MINIMAL | {"config": config}
            return only(template(values), "Deployment")["spec"]["template"]
        self.assertNotEqual(pod(), pod(threads=3))
        self.assertNotIn("helm.sh/chart", pod()["metadata"]["labels"])


class Restricted(unittest.TestCase):
    def test_each_broken_rule_is_found(self):
        breaches = {
            "hostNetwork is set": lambda spec: spec.update(hostNetwork=True),
            "volume tmp is a hostPath": lambda spec: spec["volumes"][3].update(hostPath={}),
            "sinkd: may gain privileges":
                lambda spec: spec["containers"][0]["securityContext"].update(
                    allowPrivilegeEscalation=True),
            "sinkd: may run as root": lambda spec: spec["securityContext"].pop("runAsNonRoot"),
            "sinkd: runs as root":
                lambda spec: spec["containers"][0]["securityContext"].update(runAsUser=0),
            "sinkd: has no seccomp profile":
                lambda spec: spec["securityContext"].pop("seccompProfile"),
            "sinkd: keeps capabilities":
                lambda spec: spec["containers"][0]["securityContext"].pop("capabilities"),
        }
        for breach, change in breaches.items():
            ((_, spec),) = pod_specs(of_kind(template(MINIMAL), "Deployment"))
            change(spec)
            self.assertEqual(violations(spec), [breach])


if __name__ == "__main__":
    unittest.main(verbosity=2)
