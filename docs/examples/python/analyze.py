"""Finds the sinks of a few texts: python analyze.py STUBS SERVER MODEL TEXT...

STUBS is the folder that generate.py wrote. SERVER is one address, or a target with several addresses:
`ipv4:10.0.0.1:50051,10.0.0.2:50051` or `dns:///sinkd:50051`.
"""

import json
import sys

import grpc

# Calls go to the servers in turn; a call that a server cannot take goes to another one.
SERVICE_CONFIG = json.dumps({
    "loadBalancingConfig": [{"round_robin": {}}],
    "methodConfig": [{
        "name": [{}],
        "retryPolicy": {
            "maxAttempts": 4,
            "initialBackoff": "0.2s",
            "maxBackoff": "2s",
            "backoffMultiplier": 2,
            "retryableStatusCodes": ["UNAVAILABLE"],
        },
    }],
})
KINDS = {1: "primary", 2: "secondary", 3: "noise"}


def requests(pb, model, texts):
    """The spec, then one message per sample."""
    spec = pb.AnalysisSpec(model=f"models/{model}", scores=pb.ScoreParameters(),
                           levels=pb.LevelParameters())
    yield pb.AnalyzeRequest(spec=spec)
    for number, text in enumerate(texts):
        yield pb.AnalyzeRequest(sample=pb.Sample(sample_id=f"text-{number}", text={"text": text}))


def main(stubs, server, model, *texts):
    sys.path.insert(0, stubs)
    from sinks.v1 import analysis_pb2 as pb
    from sinks.v1 import analysis_pb2_grpc as service

    with grpc.insecure_channel(server, [("grpc.service_config", SERVICE_CONFIG)]) as channel:
        stream = service.AnalysisServiceStub(channel).Analyze(requests(pb, model, texts))
        for response in stream:
            kind = response.WhichOneof("message")
            if kind == "record":
                record = response.record
                print(f"{record.sample_id}: primary sink at {record.primary.position}")
                for sink in record.sinks:
                    print(f"  {sink.position} {sink.token_text!r} {KINDS[sink.kind]}, from layer "
                          f"{sink.l_start} for {sink.lifetime}")
            elif kind == "sample_error":
                print(f"{response.sample_error.sample_id}: {response.sample_error.status.message}")
            elif kind == "summary":
                print(f"{response.summary.samples} samples, {response.summary.positions} tokens")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except grpc.RpcError as error:
        sys.exit(f"{error.code().name}: {error.details()}")
