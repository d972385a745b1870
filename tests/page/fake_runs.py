"""RunService and ModelService as far as a report asks them, over the planted runs."""

import concurrent.futures
import importlib

import grpc

from tests.page import fixtures, planted_runs, planted_studies
from tests.page.messages import models, runs

models_service = importlib.import_module("sinks.v1.models_pb2_grpc")
runs_service = importlib.import_module("sinks.v1.runs_pb2_grpc")


def known(name, context):
    name = name.removeprefix("runs/")
    if name not in planted_runs.LEVELS:
        context.abort(grpc.StatusCode.NOT_FOUND, f"there is no run {name}")
    return name


class Runs(runs_service.RunServiceServicer):
    def GetRun(self, request, context):
        return runs.GetRunResponse(run=planted_runs.run(known(request.name, context)))

    def SummarizeRuns(self, request, context):
        yield planted_runs.summary(known(request.names[0], context))

    def StreamRecords(self, request, context):
        stored = planted_runs.stored_records(known(request.name, context)).records
        for record in stored[:request.limit]:
            yield runs.StreamRecordsResponse(records=[record])

    def ListStudies(self, request, context):
        yield from planted_studies.studies(known(request.name, context))


class Models(models_service.ModelServiceServicer):
    def GetModel(self, request, context):
        for model in fixtures.planted_models():
            if model.name == request.name:
                return models.GetModelResponse(model=model)
        return context.abort(grpc.StatusCode.NOT_FOUND, f"there is no {request.name}")


def serve():
    """Returns (server, address)."""
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    runs_service.add_RunServiceServicer_to_server(Runs(), server)
    models_service.add_ModelServiceServicer_to_server(Models(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, f"127.0.0.1:{port}"
