// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* The header in C11, with every warning an error (see CMakeLists.txt): that it
   compiles is most of the test. */

#include "nested/kernel.h"
#include "nested/runtime.h"

#include <stddef.h>
#include <string.h>

/* Offsets are part of the ABI as sizes are. */
_Static_assert(offsetof(nested_argument, data) == 8, "data");
_Static_assert(offsetof(nested_argument, dtype) == 16, "dtype");
_Static_assert(offsetof(nested_argument, shape) == 24, "shape");
_Static_assert(offsetof(nested_argument, num_samples) == 40, "num_samples");
_Static_assert(offsetof(nested_argument, base) == 64, "base");
_Static_assert(offsetof(nested_argument, device_type) == 80, "device_type");
_Static_assert(offsetof(nested_result, data) == 8, "data");
_Static_assert(offsetof(nested_result, lengths) == 40, "lengths");
_Static_assert(offsetof(nested_options, allocator) == 16, "allocator");
_Static_assert(offsetof(nested_frame, services) == 24, "services");

int main(void) {
  nested_argument arg = NESTED_INIT(nested_argument);
  nested_artifact_t *artifact = NULL;
  if (arg.struct_size != sizeof(arg) || arg.data || arg.reserved[3])
    return 1;
  if (nested_open_memory("x", 1, NULL, 0, &artifact) !=
          NESTED_INVALID_ARTIFACT ||
      artifact || !strstr(nested_last_error(), "artifact in memory"))
    return 2;
  if (nested_runtime_version() != NESTED_VERSION)
    return 3;
  if (nested_prepare(NULL, &arg, 1, NULL, NULL, 0) != NESTED_INVALID_ARGUMENT ||
      !strstr(nested_last_error(), "entry is null"))
    return 4;
  nested_close(NULL);
  nested_plan_release(NULL);
  nested_pool_destroy(NULL);
  return 0;
}
