// Memory that was freed goes back to the machine.
#pragma once

namespace sinkd {

// The C library keeps freed blocks of up to 32 MiB for itself, and weights are many of these:
// without this a failed load or an unloaded model would still take its memory. Takes milliseconds.
// Thread-safety: may be called from any thread.
void ReturnFreeMemory();

}  // namespace sinkd
