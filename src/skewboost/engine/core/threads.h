// A thread pool: every thread that is free takes the next task of a list.
//
// A round of boosting may take a tenth of a millisecond, and waking a thread takes as long. So the calling thread
// starts at once, and helper threads take the tasks that are left when they are awake. A helper without work spins for
// a while before it goes to sleep. The tasks, and the order in which their results are added, depend only on the shape
// of the data. So the number of threads changes the time, but not the result.
#pragma once
#include "base.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#define NOGDI
#include <windows.h>
#undef near  // names that windows.h defines as macros
#undef far
#undef ERROR
#undef INFINITE
#else
#include <pthread.h>
#include <sched.h>
#include <time.h>
#endif

namespace skew {

// ------------------------------------------------------------------------------------------- platform

#ifdef _WIN32
struct Lock {
    SRWLOCK lock = SRWLOCK_INIT;
    CONDITION_VARIABLE condition = CONDITION_VARIABLE_INIT;
    void take() { AcquireSRWLockExclusive(&lock); }
    void give() { ReleaseSRWLockExclusive(&lock); }
    void sleep() { SleepConditionVariableSRW(&condition, &lock, INFINITE_WAIT, 0); }
    void wake_all() { WakeAllConditionVariable(&condition); }
    static constexpr DWORD INFINITE_WAIT = 0xFFFFFFFF;
};
inline void yield_processor() {
    SwitchToThread();
}
inline int64_t nanoseconds() {
    LARGE_INTEGER now, rate;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&rate);
    return int64_t(double(now.QuadPart) * 1e9 / double(rate.QuadPart));
}
#else
struct Lock {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    void take() { pthread_mutex_lock(&lock); }
    void give() { pthread_mutex_unlock(&lock); }
    void sleep() { pthread_cond_wait(&condition, &lock); }
    void wake_all() { pthread_cond_broadcast(&condition); }
};
inline void yield_processor() {
    sched_yield();
}
inline int64_t nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
}
#endif

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

template <class T>
inline T load(const T* x) {
    return __atomic_load_n(x, __ATOMIC_ACQUIRE);
}
template <class T>
inline T fetch_add(T* x, T value) {
    return __atomic_fetch_add(x, value, __ATOMIC_ACQ_REL);
}

// ---------------------------------------------------------------------------------------------------- the pool

struct Job {
    void (*run)(void*, int64_t);
    void* context;
    int64_t n_tasks;
    int64_t next = 0;    // the next task
    int64_t done = 0;    // the number of finished tasks
    int64_t wanted = 0;  // helpers that may still join; guarded by the lock of the pool
    int64_t inside = 0;  // helpers that are working on it
    Job* following = nullptr;

    void work() {
        for (;;) {
            int64_t task = fetch_add(&next, int64_t(1));
            if (task >= n_tasks) return;
            run(context, task);
            fetch_add(&done, int64_t(1));
        }
    }
};

class Pool {
public:
    void run(Job& job, int64_t n_jobs) {
        job.wanted = min_of(n_jobs, job.n_tasks) - 1;
        lock_.take();
        while (n_threads_ < job.wanted && start_thread()) {
        }
        if (n_threads_ > 0) {
            job.following = jobs_;
            jobs_ = &job;
            fetch_add(&n_open_, int64_t(1));
            if (n_asleep_ > 0) lock_.wake_all();
        }
        bool listed = n_threads_ > 0;
        lock_.give();
        job.work();
        if (listed) withdraw(job);
        for (int64_t spins = 0; load(&job.done) < job.n_tasks || load(&job.inside) > 0; ++spins) {
            if (spins < 2000)
                relax();
            else
                yield_processor();
        }
    }

    // A forked child has the pool, but none of its threads.
    void before_fork() { lock_.take(); }
    void after_fork_in_parent() { lock_.give(); }
    void after_fork_in_child() {
        lock_ = Lock();
        jobs_ = nullptr;
        n_open_ = n_threads_ = n_asleep_ = 0;
    }

private:
    void withdraw(Job& job) {
        lock_.take();
        for (Job** at = &jobs_; *at != nullptr; at = &(*at)->following)
            if (*at == &job) {
                *at = job.following;
                fetch_add(&n_open_, int64_t(-1));
                break;
            }
        lock_.give();
    }

    Job* find() {  // requires the lock
        for (Job* job = jobs_; job != nullptr; job = job->following)
            if (job->wanted > 0 && load(&job->next) < job->n_tasks) {
                job->wanted -= 1;
                fetch_add(&job->inside, int64_t(1));
                return job;
            }
        return nullptr;
    }

    void help() {
        for (;;) {
            lock_.take();
            Job* job = find();
            lock_.give();
            if (job != nullptr) {
                job->work();
                fetch_add(&job->inside, int64_t(-1));
                continue;
            }
            int64_t since = nanoseconds(), now = since;
            bool called = false;
            while (!called && now - since < SPIN_TIME) {
                for (int k = 0; k < 32; ++k) relax();
                called = load(&n_open_) > 0;
                now = nanoseconds();
                if (!called && now - since > SPIN_TIME / 8) yield_processor();  // to threads that have work
            }
            if (called) {
                if (!any_wanted()) yield_processor();
                continue;
            }
            lock_.take();
            while (n_open_ == 0) {
                n_asleep_ += 1;
                lock_.sleep();
                n_asleep_ -= 1;
            }
            lock_.give();
        }
    }

    bool any_wanted() {
        lock_.take();
        bool found = false;
        for (Job* job = jobs_; job != nullptr && !found; job = job->following) found = job->wanted > 0;
        lock_.give();
        return found;
    }

    bool start_thread() {
#ifdef _WIN32
        HANDLE thread = CreateThread(
            nullptr, 0,
            [](void* pool) -> DWORD {
                static_cast<Pool*>(pool)->help();
                return 0;
            },
            this, 0, nullptr);
        if (thread == nullptr) return false;
        CloseHandle(thread);
#else
        pthread_t thread;
        auto body = [](void* pool) -> void* {
            static_cast<Pool*>(pool)->help();
            return nullptr;
        };
        if (pthread_create(&thread, nullptr, body, this) != 0) return false;
        pthread_detach(thread);
#endif
        n_threads_ += 1;
        return true;
    }

    static constexpr int64_t SPIN_TIME = 1000000;  // nanoseconds of spinning before a helper goes to sleep

    Lock lock_;
    Job* jobs_ = nullptr;
    int64_t n_open_ = 0;  // the number of jobs in the list
    int64_t n_threads_ = 0;
    int64_t n_asleep_ = 0;
};

// Constructed when the library is loaded, so that calls need no guard.
static Pool the_pool;

inline void watch_forks() {
#ifndef _WIN32
    pthread_atfork([] { the_pool.before_fork(); }, [] { the_pool.after_fork_in_parent(); },
                   [] { the_pool.after_fork_in_child(); });
#endif
}

// Calls work(0), work(1), …, work(n_tasks - 1) on up to n_jobs threads, of which the calling one is the first.
template <class Work>
inline void parallel(int64_t n_tasks, int64_t n_jobs, Work&& work) {
    if (n_jobs <= 1 || n_tasks <= 1) {
        for (int64_t task = 0; task < n_tasks; ++task) work(task);
        return;
    }
    using Body = typename RemoveReference<Work>::type;
    Job job;
    job.run = [](void* body, int64_t task) { (*static_cast<Body*>(body))(task); };
    job.context = const_cast<void*>(static_cast<const void*>(&work));
    job.n_tasks = n_tasks;
    the_pool.run(job, n_jobs);
}

}  // namespace skew
