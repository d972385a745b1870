"""Values that cannot be meant are refused in words that name them.

    python -m tests.helm.refusals_test
"""

import unittest

from tests.helm.chart import MINIMAL, refusal, template

# Path of the value, what it is set to, words of the answer beside the path.
SCHEMA = [
    ("replica", 2, "not allowed"),
    ("replicas", "two", "want integer"),
    ("replicas", -1, "minimum"),
    ("replicas", 1.5, "want integer"),
    ("image/repository", "Registry/Sinkd", "does not match pattern"),
    ("image/tag", "a b", "does not match pattern"),
    ("image/digest", "sha256:12", "does not match pattern"),
    ("image/pullPolicy", "Sometimes", "must be one of"),
    ("imagePullSecrets/0", "registry", "want object"),
    ("config/maxQueue", 12, "not allowed"),
    ("config/drain-delay", 5, "want string"),
    ("config/drain-timeout", "30 s", "does not match pattern"),
    ("config/max-queue", {"a": 1}, "want boolean or integer or string or array"),
    ("config/device", "cpu\nlisten = '0.0.0.0:1'", "does not match pattern"),
    ("config/load/0", "Llama", "does not match pattern"),
    ("config/load", "llama", "want array"),
    ("config/memory-budget", "8GiB", "does not match pattern"),
    ("config/max-caller-percent", 0, "minimum"),
    ("config/max-connections", 1000001, "maximum"),
    ("config/max-connections-per-address", "64", "want integer"),
    ("config/stuck-after", "a while", "does not match pattern"),
    ("config/compute-type", "float16", "must be one of"),
    ("config/metrics-open", "yes", "want boolean"),
    ("serviceMonitor/tls/key", "a", "not allowed"),
    ("models/pvc", "models", "not allowed"),
    ("models/existingClaim", "My Claim", "does not match pattern"),
    ("models/claim/size", "10 GB", "does not match pattern"),
    ("models/claim/accessModes/0", "RWX", "must be one of"),
    ("models/copy/from", "models", "does not match pattern"),
    ("gpu/count", "1", "want integer"),
    ("gpu/count", 65, "maximum"),
    ("gpu/resource", "gpu", "does not match pattern"),
    ("resources/limit", {"cpu": 1}, "not allowed"),
    ("resources/limits/memory", "4 GB", "does not match pattern"),
    ("nodeSelector/zone", 3, "want string"),
    ("strategy/type", "BlueGreen", "must be one of"),
    ("strategy/maxSurge", 1, "not allowed"),
    ("probes/startupSeconds", 1, "minimum"),
    ("probes/protocol", "tcp", "must be one of"),
    ("terminationMarginSeconds", 0, "minimum"),
    ("store/kind", "mysql", "must be one of"),
    ("store/kind", False, "must be one of"),
    ("store/postgres/url", "postgresql://a:b@c/d", "not allowed"),
    ("store/postgres/port", 70000, "maximum"),
    ("tls/cert", "-----BEGIN", "not allowed"),
    ("tls/clientCa", "yes", "want boolean"),
    ("tokens/existingSecret", ["a"], "want string"),
    ("proxy/callsAtOnce", 0, "minimum"),
    ("proxy/enabled", "yes", "want boolean"),
    ("service/type", "ExternalName", "must be one of"),
    ("service/grpcPort", 0, "minimum"),
    ("podDisruptionBudget/maxUnavailable", "half", "does not match pattern"),
    ("networkPolicy/clients/0/podLabels", {}, "not allowed"),
    ("serviceMonitor/interval", "often", "does not match pattern"),
    ("autoscaling/kind", "vpa", "must be one of"),
    ("autoscaling/queueDepth", 0, "minimum"),
    ("autoscaling/prometheus", "prometheus:9090", "does not match pattern"),
    ("client/image/tag", 1.0, "want string"),
    ("test/text", "", "minLength"),
    ("shardedJob/shards", 0, "minimum"),
    ("shardedJob/run", "a run", "does not match pattern"),
    ("shardedJob/corpus/files/0", "/etc/passwd", "does not match pattern"),
    ("shardedJob/backoffLimitPerIndex", -1, "minimum"),
]

JOB = {"enabled": True, "model": "m", "run": "r", "corpus": {"existingClaim": "corpus"}}
# Values that are refused for what stands beside them, and the answer.
TOGETHER = [
    ({"models": {"existingClaim": ""}},
     "there are no models: give models.existingClaim, models.claim.create or models.copy.image"),
    ({"models": {"existingClaim": "a", "claim": {"create": True}}}, "both name a claim"),
    ({"models": {"existingClaim": "a", "copy": {"fromClaim": "b"}}}, "needs models.copy.image"),
    ({"config": {"listen": "0.0.0.0:1"}}, "config.listen is set by the chart"),
    ({"config": {"model-root": "/m"}}, "config.model-root is set by the chart; give models."),
    ({"config": {"store": "off"}}, "config.store is set by the chart; give store.kind"),
    ({"config": {"state-dir": "/s"}}, "config.state-dir is set by the chart; give store.kind"),
    ({"config": {"tls-cert": "/c"}}, "config.tls-cert is set by the chart; give tls."),
    ({"config": {"insecure-listen": True}}, "config.insecure-listen is set by the chart"),
    ({"replicas": 2}, "several servers cannot keep runs in sqlite"),
    ({"autoscaling": {"kind": "hpa"}}, "several servers cannot keep runs in sqlite"),
    ({"replicas": 2, "store": {"kind": "off"},
      "models": {"existingClaim": "", "claim": {"create": True}}}, "share a ReadWriteOnce claim"),
    ({"store": {"kind": "postgres"}}, "store.postgres.existingSecret must name the secret"),
    ({"store": {"sqlite": {"existingClaim": "a", "claim": {"create": True}}}},
     "store.sqlite.existingClaim and store.sqlite.claim.create both name a claim"),
    ({"strategy": {"type": "RollingUpdate"}, "store": {"sqlite": {"existingClaim": "a"}}},
     "two servers write one sqlite file"),
    ({"tls": {"clientCa": True}}, "tls.clientCa needs tls.existingSecret"),
    ({"tls": {"existingSecret": "a"}, "probes": {"protocol": "grpc"}},
     "the kubelet's gRPC probe speaks no TLS; use auto or http"),
    ({"autoscaling": {"kind": "keda", "minReplicas": 9}, "store": {"kind": "off"}},
     "autoscaling.minReplicas 9 is over autoscaling.maxReplicas 4"),
    ({"shardedJob": JOB | {"model": ""}}, "shardedJob.model must name"),
    ({"shardedJob": JOB | {"run": ""}}, "shardedJob.run must name"),
    ({"shardedJob": JOB | {"corpus": {}}}, "shardedJob.corpus.existingClaim must name"),
    ({"shardedJob": JOB, "store": {"kind": "off"}}, "shardedJob needs a store"),
    ({"shardedJob": JOB, "tls": {"existingSecret": "a", "clientCa": True}},
     "client.tls.existingSecret must name that of shardedJob"),
    ({"shardedJob": JOB, "tokens": {"existingSecret": "a"}},
     "client.token.existingSecret must name the secret with that of shardedJob"),
    ({"serviceMonitor": {"enabled": True}, "tokens": {"existingSecret": "a"}},
     "serviceMonitor.token.existingSecret must name a secret with one"),
    ({"serviceMonitor": {"enabled": True}, "tls": {"existingSecret": "a", "clientCa": True}},
     "serviceMonitor.tls.existingSecret must name a secret with one"),
    ({"proxy": {"enabled": True}, "tls": {"existingSecret": "a", "clientCa": True}},
     "the proxy does not forward client certificates"),
    ({"proxy": {"enabled": True}, "probes": {"protocol": "grpc"}}, "would ask the proxy instead of sinkd"),
    ({"config": {"token-file": "/t"}}, "config.token-file is set by the chart; give tokens."),
]


def at(path, value):
    """{"a": {"b": value}} for a/b; a number is a place in a list."""
    for part in reversed(path.split("/")):
        value = [value] if part.isdigit() else {part: value}
    return value


class Refusals(unittest.TestCase):
    def test_the_schema_names_the_value_and_what_is_wrong(self):
        for path, value, words in SCHEMA:
            with self.subTest(path, value=value):
                answer = refusal(MINIMAL | at(path, value))
                self.assertIn(words, answer)
                where = path
                if words == "not allowed":
                    where, _, key = path.rpartition("/")
                    self.assertIn(f"'{key}' not allowed", answer)
                self.assertIn(f"at '/{where}'" if where else "at ''", answer)

    def test_values_that_do_not_go_together_are_refused_with_the_way_out(self):
        for values, words in TOGETHER:
            with self.subTest(words):
                self.assertIn(words, refusal(MINIMAL | values))

    def test_the_values_they_stand_beside_are_taken(self):
        self.assertTrue(template(MINIMAL))
        self.assertTrue(template(MINIMAL | {"shardedJob": JOB}))


if __name__ == "__main__":
    unittest.main(verbosity=2)
