"""Many streams at once from one thread, for tests of what a server does under load."""

import asyncio
import collections
import dataclasses

import grpc

from tests.e2e import stubs
from tests.e2e.calls import ANALYZE, Failure
from tests.e2e.sinkd_process import PATIENCE


@dataclasses.dataclass
class Outcome:
    """How a stream ended: the summary's samples, or the failure."""

    samples: int = 0
    records: int = 0
    failure: Failure = None

    @property
    def word(self):
        return self.failure.code if self.failure else "OK"


class Stream:
    """One Analyze call, step by step."""

    def __init__(self, channel, timeout=PATIENCE):
        method = channel.stream_stream(
            ANALYZE,
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=stubs.analysis.AnalyzeResponse.FromString,
        )
        self.call = method(timeout=timeout)
        self.outcome = Outcome()

    async def open(self, spec):
        """True once the server has taken the stream, False once it has refused it."""
        return await self._steps(self._open(spec))

    async def _open(self, spec):
        await self.call.write(spec)
        response = await self.call.read()
        if response is grpc.aio.EOF:
            await self._raise()
        assert response.WhichOneof("message") == "started"

    async def finish(self, samples):
        """Sends the samples and reads to the end."""
        await self._steps(self._finish(samples))
        return self.outcome

    async def _finish(self, samples):
        for sample in samples:
            await self.call.write(sample)
        await self.call.done_writing()
        while (response := await self.call.read()) is not grpc.aio.EOF:
            kind = response.WhichOneof("message")
            if kind == "record":
                self.outcome.records += 1
            elif kind == "summary":
                self.outcome.samples = response.summary.samples
        await self._raise()

    async def _raise(self):
        """The call's error, if it is one; a call that ended has the code before the details."""
        if await self.call.code() != grpc.StatusCode.OK:
            raise grpc.aio.AioRpcError(
                await self.call.code(), await self.call.initial_metadata(),
                await self.call.trailing_metadata(), await self.call.details())

    async def _steps(self, steps):
        try:
            await steps
        except grpc.aio.AioRpcError as error:
            self.outcome.failure = Failure.of_call(error)
        except (asyncio.InvalidStateError, grpc.aio.BaseError):  # it ended while something was sent
            await self._note_end()
        return self.outcome.failure is None

    async def _note_end(self):
        try:
            await self._raise()
        except grpc.aio.AioRpcError as error:
            self.outcome.failure = Failure.of_call(error)


def counted(outcomes):
    return collections.Counter(each.word for each in outcomes)


def connect(server):
    return grpc.aio.insecure_channel(server.address, [("grpc.use_local_subchannel_pool", 1)])
