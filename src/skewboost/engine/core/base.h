// Basic definitions: constants of `boundary.py`, small functions, and buffers that report a lack of memory.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

// Only C headers are used, because a compiler without the C++ library may not have its headers.

namespace skew {

struct Place {
    void* at;
};

}  // namespace skew

// Constructs an object in memory that is already allocated.
inline void* operator new(size_t, skew::Place place) noexcept {
    return place.at;
}

namespace skew {

constexpr int N_CODES = 256;
constexpr int MISSING = 255;  // the code of a missing cell
constexpr int N_THRESHOLDS = 255;
constexpr int BLOCK = 8;  // features per word
enum Side : uint8_t { LEFT = 0, RIGHT = 1, ABSTAIN = 2, UNSEEN = 3 };

constexpr double TIE = 1e-10;             // `boundary.TIE`
constexpr double MAX_NODE_ERROR = 1e-10;  // a derived node whose relative error is larger is summed again
constexpr double LONGEST_STEP = 11.5;     // `boundary.LONGEST_STEP`
constexpr double SLACK = 1e-9;            // `split_search.SLACK`
constexpr int MAX_ENUMERATED = 10;        // `split_search.MAX_ENUMERATED`
constexpr double INFINITE = __builtin_inf();
constexpr double EPSILON = 2.220446049250313e-16;

// The result of a call. There are no exceptions: a lack of memory is returned as a status.
enum Status : int { DONE = 0, NO_MEMORY = 1 };

#define TRY(call)                             \
    do {                                      \
        if ((call) != DONE) return NO_MEMORY; \
    } while (0)

template <class T>
inline T min_of(T a, T b) {
    return b < a ? b : a;
}
template <class T>
inline T max_of(T a, T b) {
    return a < b ? b : a;
}
template <class T>
struct RemoveReference {
    using type = T;
};
template <class T>
struct RemoveReference<T&> {
    using type = T;
};
inline double absolute(double x) {
    return x < 0.0 ? -x : x;
}

typedef double Four __attribute__((vector_size(32)));
typedef int64_t Whole __attribute__((vector_size(32)));
typedef uint8_t FourBytes __attribute__((vector_size(4)));

// Returns Σ values. Eight independent sums hide the latency of additions, and parts keep the error from growing with n.
inline double sum_of(const double* values, int64_t n) {
    constexpr int64_t PART = 1024;
    double total = 0.0;
    for (int64_t start = 0; start < n; start += PART) {
        int64_t stop = min_of(start + PART, n), k = start;
        Four one = {0.0, 0.0, 0.0, 0.0}, other = one;
        for (; k + 8 <= stop; k += 8) {
            Four a, b;
            memcpy(&a, values + k, sizeof a);
            memcpy(&b, values + k + 4, sizeof b);
            one += a;
            other += b;
        }
        one += other;
        double part = (one[0] + one[1]) + (one[2] + one[3]);
        for (; k < stop; ++k) part += values[k];
        total += part;
    }
    return total;
}
inline double sum_of_codes(const double* values) {
    return sum_of(values, N_CODES);
}

// A growing array that frees its memory. New elements are not initialised.
template <class T>
class Buffer {
public:
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { release(data_); }

    Status reserve(int64_t n) {
        if (n <= size_) return DONE;
        if (uint64_t(n) > SIZE_MAX / sizeof(T) / 2) return NO_MEMORY;
        // whole cache lines, aligned to cache lines
        void* fresh = allocate((size_t(n) * sizeof(T) + 63) / 64 * 64);
        if (fresh == nullptr) return NO_MEMORY;
        release(data_);
        data_ = static_cast<T*>(fresh);
        size_ = n;
        return DONE;
    }
    // Like reserve, but keeps the elements.
    Status grow(int64_t n) {
        if (n <= size_) return DONE;
        Buffer<T> larger;
        TRY(larger.reserve(max_of(n, size_ + size_ / 2)));
        if (size_ > 0) memcpy(static_cast<void*>(larger.data_), data_, size_t(size_) * sizeof(T));
        T* old = data_;
        data_ = larger.data_;
        larger.data_ = old;
        size_ = larger.size_;
        return DONE;
    }
    // Takes over the memory of another buffer.
    void take(Buffer<T>& other) {
        clear();
        data_ = other.data_;
        size_ = other.size_;
        other.data_ = nullptr;
        other.size_ = 0;
    }
    void clear() {
        release(data_);
        data_ = nullptr;
        size_ = 0;
    }
    T* data() const { return data_; }
    T& operator[](int64_t i) const { return data_[i]; }
    int64_t size() const { return size_; }

private:
    static void* allocate(size_t bytes) {
        // The address that malloc returned is stored in front of the aligned one.
        char* raw = static_cast<char*>(malloc(bytes + 64 + sizeof(void*)));
        if (raw == nullptr) return nullptr;
        in_large_pages(raw, bytes);
        uintptr_t at = (reinterpret_cast<uintptr_t>(raw) + sizeof(void*) + 63) / 64 * 64;
        reinterpret_cast<void**>(at)[-1] = raw;
        return reinterpret_cast<void*>(at);
    }
    // Asks for huge pages, as NumPy does: the first access to a small page costs as much as a thousand additions.
    static void in_large_pages(char* raw, size_t bytes) {
#ifdef __linux__
        constexpr uintptr_t PAGE = 4096, MANY = uintptr_t(1) << 22;
        if (bytes < MANY) return;
        uintptr_t first = (reinterpret_cast<uintptr_t>(raw) + PAGE - 1) / PAGE * PAGE;
        madvise(reinterpret_cast<void*>(first), bytes - PAGE, MADV_HUGEPAGE);  // the system may ignore it
#else
        (void)raw, (void)bytes;
#endif
    }
    static void release(void* data) {
        if (data != nullptr) free(reinterpret_cast<void**>(data)[-1]);
    }

    T* data_ = nullptr;
    int64_t size_ = 0;
};

// The beginning of part k if n items are divided into equal parts.
inline int64_t bound(int64_t n, int64_t n_parts, int64_t k) {
    return k * n / n_parts;
}

}  // namespace skew
