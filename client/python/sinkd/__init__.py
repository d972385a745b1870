"""Client of sinkd, the service that analyses the attention sinks of language models.

    import sinkd

    server = sinkd.connect("127.0.0.1:50051")
    server.scores("smollm2", "Once upon a time.").to_pandas()

docs/python.md shows what else there is; `sinkd.aio` is the same for asyncio. The protocol's messages are
in `sinks.v1`.
"""

from sinkd import aio
from sinkd.calls import VERSION
from sinkd.client import Analysis, Client, Run, connect
from sinkd.errors import Error, SampleError, SampleWarning, VersionWarning
from sinkd.results import Audit, Plan, Record, Study, Summary

__version__ = VERSION
__all__ = [
    "Analysis",
    "Audit",
    "Client",
    "Error",
    "Plan",
    "Record",
    "Run",
    "SampleError",
    "SampleWarning",
    "Study",
    "Summary",
    "VersionWarning",
    "__version__",
    "aio",
    "connect",
]
