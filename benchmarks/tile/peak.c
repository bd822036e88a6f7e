/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Independent FMAs in a loop: what a core can do at most. */
#include <stdint.h>

#define F(n) "vfmadd231ps %%zmm0, %%zmm1, %%zmm" #n "\n"

/* Returns the floating-point operations done. */
int64_t peak(int64_t iterations) {
  int64_t count = iterations;
  __asm__ volatile("vpxord %%zmm0, %%zmm0, %%zmm0\n"
                   "vpxord %%zmm1, %%zmm1, %%zmm1\n"
                   "1:\n" F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
                       F(12) F(13) F(14) F(15) F(16) F(17) "dec %0\n"
                                                           "jnz 1b\n"
                   : "+r"(count)
                   :
                   : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
                     "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
                     "xmm14", "xmm15", "xmm16", "xmm17");
  return iterations * 16 * 32;
}
