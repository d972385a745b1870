#include "server/models/free_memory.h"

#include <malloc.h>

namespace sinkd {

void ReturnFreeMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace sinkd
