"""One analysis, over as many streams as it takes: what to send, and what answers become.

A sender pulls the next sample, a reader gives every answer to `take`; they may be two threads or two
tasks, and all calls themselves are `sinkd.client`'s and `sinkd.aio`'s. Samples are kept until they are
answered, so that a stream that broke can be taken up: with a run by another one that sends what was not
answered, without by one that sends all again, since a summary is that of one stream. Nothing is told twice.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field

from sinks.v1 import analysis_pb2 as analysis
from sinks.v1 import records_pb2 as records
from sinks.v1.analysis_pb2 import Sample

from sinkd import errors
from sinkd.errors import Error, SampleError
from sinkd.results import Record
from sinkd.samples import Samples, content_id, input_digest

# Samples under way at most, so that a source is read no further ahead.
WINDOW = 64
MOST_BREAKS = 6  # without anything new in between
FIRST_PAUSE = 0.25  # seconds, doubled each time
ONE_STORE = "servers that share their work must share one store: start them with --store postgresql://..."


@dataclass
class Session:
    spec: analysis.AnalysisSpec
    samples: Samples
    progress: Callable[[analysis.Progress], None] | None = None
    held: dict[str, bytes] = field(default_factory=dict)  # what a run that is resumed holds, by key

    started: analysis.AnalyzeStarted | None = None
    summary: records.Summary | None = None
    sample_errors: list[SampleError] = field(default_factory=list)
    left_out: int = 0  # samples that the run held already
    stream: int = 0  # number of the stream that is open, or will be next

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._reading = threading.Lock()  # held while the source is asked, which may take long
        self._reading_async = asyncio.Lock()
        self._source: Iterator[Sample] | None = None
        self._source_async: AsyncIterator[Sample] | None = None
        self._coming: asyncio.Future[Sample | None] | None = None  # what the source was asked for
        self._since = 0  # the first stream that reads this source
        self._under_way: deque[Sample] = deque()
        self._sent = 0  # of those, by this stream
        self._begin = 0  # index of this stream's first sample
        self._next = 0  # index of the first sample that is not answered
        self._told = 0  # samples that the caller was told of
        self._records = 0
        self._breaks = 0
        self._part: records.SampleRecord | None = None
        self._alpha: list[records.AlphaChunk] = []

    @property
    def sends_records(self) -> bool:
        return not self.spec.summary_only

    # The sender's side.

    def pull(self, stream: int) -> Sample | None:
        """The next sample to send; None when there are no more, or `stream` is over. Waits for the source."""
        with self._reading:
            if (sample := self._again(stream)) is not None or stream != self.stream:
                return sample
            self._source = self._source or iter(self.samples)
            for each in self._source:
                if (wanted := self._admit(each)) is not None:
                    return self._keep(wanted, stream)
            return None

    async def pull_async(self, stream: int) -> Sample | None:
        if not self.samples.is_async:
            return await asyncio.to_thread(self.pull, stream)
        async with self._reading_async:
            while (sample := self._again(stream)) is None and stream == self.stream:
                self._source_async = self._source_async or aiter(self.samples)
                # A stream that ends must not end the source with it.
                self._coming = self._coming or asyncio.ensure_future(anext(self._source_async, None))
                each = await asyncio.shield(self._coming)
                self._coming = None
                if each is None:
                    return None
                if (wanted := self._admit(each)) is not None:
                    return self._keep(wanted, stream)
            return sample

    def stop_reading(self) -> None:
        """Nobody wants what the async source was asked for."""
        if self._coming is not None:
            self._coming.cancel()

    def _again(self, stream: int) -> Sample | None:
        """A sample that an earlier stream left unanswered."""
        with self._lock:
            if stream != self.stream or self._sent == len(self._under_way):
                return None
            self._sent += 1
            return self._under_way[self._sent - 1]

    def _admit(self, sample: Sample) -> Sample | None:
        """The sample under its name in the run; None when the run holds it."""
        if not self.spec.run_id:
            return sample
        if not sample.sample_id:
            named = Sample()
            named.CopyFrom(sample)
            named.sample_id = content_id(sample)
            sample = named
        held = self.held.get(sample.sample_id)
        if held is None:
            return sample
        same = held == input_digest(sample) if held else not self.spec.replace
        self.left_out += same
        return None if same else sample

    def _keep(self, sample: Sample, stream: int) -> Sample | None:
        """Notes it as under way; None when `stream` is over: then the next one sends it."""
        with self._lock:
            if stream >= self._since:
                self._under_way.append(sample)
            if stream != self.stream:
                return None
            self._sent += 1
            return sample

    # The reader's side.

    def take(self, response: analysis.AnalyzeResponse) -> tuple[Record | None, int]:
        """The record to tell, if this completes one, and how many samples were answered."""
        kind = response.WhichOneof("message")
        if kind == "started":
            self._take_started(response.started)
        elif kind == "record":
            return self._take_record(response.record)
        elif kind == "alpha":
            self._alpha.append(response.alpha)
        elif kind == "sample_error":
            response.sample_error.sample_index += self._begin
            is_new, _, count = self._answered(response.sample_error.sample_index)
            if is_new:
                self.sample_errors.append(errors.of_sample(response.sample_error))
            return None, count
        elif kind == "progress":
            return None, self._take_progress(response.progress)
        elif kind == "summary":
            self.summary = response.summary
        return None, 0

    def finish(self) -> None:
        """After the last answer of a stream that ended well: raises what is missing."""
        if self._part is not None:
            raise Error("INTERNAL", f"the record of sample {self._part.sample_index} ends in the middle")
        if self.summary is None and not self.spec.no_summary:
            raise Error("INTERNAL", "the server ended the stream without a summary")
        if self.sends_records and self._under_way:
            raise Error("INTERNAL", f"the server left {len(self._under_way)} samples unanswered")
        analysed = self._records if self.sends_records or self.summary is None else self.summary.samples
        if self.sample_errors and not analysed:
            raise self.sample_errors[0]

    def take_up(self, error: Error) -> float | None:
        """Makes ready for another stream, after so many seconds; None: `error` is the end."""
        wants_pause = error.retry_after is not None
        refused = error.code == "RESOURCE_EXHAUSTED" and wants_pause and self.started is None
        broke = error.code == "UNAVAILABLE" and (self.started is not None or wants_pause)
        if not (refused or broke) or self._breaks >= MOST_BREAKS:
            return None
        kept = self.spec.run_id and (self.started is None or self.started.HasField("stored_samples"))
        from_the_start = self.started is not None and not kept
        if from_the_start and not self.samples.repeatable:
            return None
        with self._lock:
            self._breaks += 1
            self.stream += 1
            self._sent = 0
            self._part, self._alpha = None, []
            if from_the_start:
                self._since = self.stream
                self._under_way.clear()
                self._source = None
                self._next = 0
            self._begin = self._next
        return max(FIRST_PAUSE * 2.0 ** (self._breaks - 1), error.retry_after or 0)

    def _take_started(self, started: analysis.AnalyzeStarted) -> None:
        first, self.started = self.started, self.started or started
        if first is None or not first.HasField("stored_samples"):
            return
        least = max(first.stored_samples, min(self._records, 1))
        if started.stored_samples < least:
            raise Error(
                "FAILED_PRECONDITION",
                f"the server that took run {self.spec.run_id} up holds {started.stored_samples} of its samples, "
                f"where another one held {least} or more; {ONE_STORE}",
            )

    def _take_record(self, part: records.SampleRecord) -> tuple[Record | None, int]:
        if self._part is None:
            self._part = part
        else:
            self._part.sinks.extend(part.sinks)
        if part.continued:
            return None, 0
        record, self._part = self._part, None
        alpha, self._alpha = self._alpha, []
        record.ClearField("continued")
        record.sample_index += self._begin
        for chunk in alpha:
            chunk.sample_index += self._begin
        is_new, sample, count = self._answered(record.sample_index)
        if not is_new:
            return None, count
        self._records += 1
        return Record(record, sample, alpha), count

    def _take_progress(self, progress: analysis.Progress) -> int:
        progress.samples_done += self._begin
        progress.samples_received += self._begin
        if self.progress is not None and progress.samples_done >= self._told:
            self.progress(progress)
        # Without records only progress tells which samples are done.
        return 0 if self.sends_records else self._answered(progress.samples_done - 1)[2]

    def _answered(self, index: int) -> tuple[bool, Sample | None, int]:
        """Whether the caller does not know this answer yet, the sample, and how many this answers."""
        with self._lock:
            is_new, sample, before = index >= self._told, None, self._next
            while self._next <= index and self._under_way:
                sample = self._under_way.popleft()
                self._sent -= 1
                self._next += 1
            if is_new:
                self._told, self._breaks = self._next, 0
            return is_new, sample, self._next - before
