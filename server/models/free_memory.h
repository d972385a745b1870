// Memory that was freed goes back to the machine.
#pragma once

namespace sinkd {

// Large weights go back by themselves (engine/weights/weight_memory.h), but the C library keeps
// freed blocks of up to 32 MiB for itself: small weights, tokenizers and activations would stay
// after a failed load or an unloaded model. Takes milliseconds. Thread-safety: may be called from
// any thread.
void ReturnFreeMemory();

}  // namespace sinkd
