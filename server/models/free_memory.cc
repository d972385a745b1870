#include "server/models/free_memory.h"

#include <malloc.h>

#include "server/engine/activation_memory.h"

namespace sinkd {

void ReturnFreeMemory() {
  TrimActivations();
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace sinkd
