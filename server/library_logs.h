// RouteLibraryLogs: what gRPC and protobuf have to say becomes lines of the log, each place of
// their code one line a minute, whatever a client does to make it speak.
//
// Thread-safety: call it once, before either library is used.
#pragma once

namespace sinkd {

void RouteLibraryLogs();

}  // namespace sinkd
