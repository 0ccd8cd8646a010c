// The native core: one translation unit of all kernels.
#include <math.h>
#include <stdint.h>

#include "api.h"
#include "level.h"

#if defined(_WIN32)
#include <windows.h>
#else
#include <pthread.h>
#endif

// Changes whenever a signature does: library.py refuses any other number than its own.
SKEWBOOST_API int32_t skewboost_abi_version() { return 1; }

struct Part {
    const double* values;
    int64_t n;
    double sum;
};

static void add_up(Part* part) {
    part->sum = 0;
    for (int64_t i = 0; i < part->n; i++) part->sum += sqrt(part->values[i]) * part->values[i];
}

#if defined(_WIN32)
static DWORD WINAPI run(void* part) {
    add_up(static_cast<Part*>(part));
    return 0;
}
#else
static void* run(void* part) {
    add_up(static_cast<Part*>(part));
    return nullptr;
}
#endif

// Sum of x to the power of 1.5, the second half on a thread of its own.
SKEWBOOST_API double skewboost_sum(const double* values, int64_t n) {
    Part first{values, n / 2, 0}, second{values + n / 2, n - n / 2, 0};
#if defined(_WIN32)
    HANDLE thread = CreateThread(nullptr, 0, run, &second, 0, nullptr);
    add_up(&first);
    if (thread) {
        WaitForSingleObject(thread, INFINITE);
        CloseHandle(thread);
    } else {
        add_up(&second);
    }
#else
    pthread_t thread;
    const bool alone = pthread_create(&thread, nullptr, run, &second) != 0;
    add_up(&first);
    if (alone)
        add_up(&second);
    else
        pthread_join(thread, nullptr);
#endif
    return first.sum + second.sum;
}
