// Returns freed memory to the system.
#pragma once

namespace sinkd {

// Large weights are returned without this (engine/weights/weight_memory.h), but the C library keeps
// freed blocks of up to 32 MiB, so small weights, tokenizers and activations would stay in memory
// after a failed load or an unloaded model. Takes milliseconds. Thread-safety: may be called from
// any thread.
void ReturnFreeMemory();

}  // namespace sinkd
