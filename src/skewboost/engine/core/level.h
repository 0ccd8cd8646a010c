// The builds that the processor can run.
//
// x86-64-v3 is AVX2 and some other extensions, as the psABI defines it. The processor is queried directly, because
// __builtin_cpu_supports needs a runtime library that zig does not provide for shared libraries.
#pragma once

#include <stdint.h>

#include "api.h"

#if defined(__x86_64__)

struct CpuId {
    uint32_t eax, ebx, ecx, edx;
};

static CpuId cpuid(uint32_t leaf) {
    CpuId r;
    __asm__ volatile("cpuid" : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx) : "a"(leaf), "c"(0));
    return r;
}

static bool has_all(uint32_t word, uint32_t bits) {
    return (word & bits) == bits;
}

// The operating system saves the 16 lower (bit 1) and the 16 upper bytes (bit 2) of the vector registers.
static bool system_saves_ymm() {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return has_all(low, 1u << 1 | 1u << 2);
}

static bool is_v3() {
    if (cpuid(0).eax < 7 || cpuid(0x80000000u).eax < 0x80000001u) return false;
    const uint32_t basic = 1u << 0                            // SSE3
                           | 1u << 9                          // SSSE3
                           | 1u << 12                         // FMA
                           | 1u << 13                         // CMPXCHG16B
                           | 1u << 19                         // SSE4.1
                           | 1u << 20                         // SSE4.2
                           | 1u << 22                         // MOVBE
                           | 1u << 23                         // POPCNT
                           | 1u << 27                         // OSXSAVE: xgetbv is available
                           | 1u << 28                         // AVX
                           | 1u << 29;                        // F16C
    const uint32_t structured = 1u << 3 | 1u << 5 | 1u << 8;  // BMI1, AVX2, BMI2
    const uint32_t extended = 1u << 0 | 1u << 5;              // LAHF, LZCNT
    return has_all(cpuid(1).ecx, basic) && has_all(cpuid(7).ebx, structured) &&
           has_all(cpuid(0x80000001u).ecx, extended) && system_saves_ymm();
}

#endif

// Returns the level of x86-64 that the processor and the operating system support: 3, or 1 for all lower levels.
// Returns 0 for other processors.
SKEWBOOST_API int32_t skewboost_level() {
#if defined(__x86_64__)
    return is_v3() ? 3 : 1;
#else
    return 0;
#endif
}
