// parallel.c - threads; the only file that knows OpenMP.
//
// The thread count lives in OpenMP's own settings. Items are handed out from
// one counter, so they start in ascending order whatever the thread count.
#include "support/parallel.h"

#include <stdatomic.h>

#ifdef _OPENMP
#include <omp.h>
#else                                           // everything on one thread
static int omp_get_num_procs(void) { return 1; }
static int omp_get_max_threads(void) { return 1; }
static int omp_get_thread_num(void) { return 0; }
static int omp_in_parallel(void) { return 0; }
static void omp_set_num_threads(int n) { (void)n; }
#endif

enum { MOST_THREADS = 1024 };

// A signal handler has no argument to find its state by.
static atomic_int cancelled;

void parallel_set_threads(int n)
{
    if (n <= 0)
        n = omp_get_num_procs();                // respects the affinity mask
    omp_set_num_threads(n < MOST_THREADS ? n : MOST_THREADS);
}

int parallel_threads(void)
{
    int n = omp_get_max_threads();

    return n < MOST_THREADS ? n : MOST_THREADS;
}

typedef struct {
    int64_t count, grain;
    _Atomic int64_t next;
    ParallelWork *work;
    void *ctx;
} Job;

static void take_items(Job *job, int worker)
{
    while (!parallel_cancelled()) {
        int64_t item = atomic_fetch_add(&job->next, job->grain);
        int64_t left = job->count - item;
        int64_t end = item + (left < job->grain ? left : job->grain);

        if (left <= 0)
            return;
        for (; item < end; item++)
            job->work(job->ctx, worker, item);
    }
}

static int threads_for(const Job *job)
{
    int threads = parallel_threads();
    int64_t pieces = (job->count - 1) / job->grain + 1;

    return pieces < threads ? (int)pieces : threads;
}

void parallel_for(int64_t count, int64_t grain, ParallelWork *work, void *ctx)
{
    Job job = {.count = count, .work = work, .ctx = ctx};
    int threads;

    if (count <= 0)
        return;
    job.grain = grain < 1 ? 1 : grain < count ? grain : count;
    threads = omp_in_parallel() ? 1 : threads_for(&job);
    if (threads == 1) {
        take_items(&job, 0);
        return;
    }
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
    take_items(&job, omp_get_thread_num());
}

void parallel_cancel(int why)
{
    atomic_store(&cancelled, why);
}

int parallel_cancelled(void)
{
    return atomic_load_explicit(&cancelled, memory_order_relaxed);
}

void parallel_cancel_reset(void)
{
    atomic_store(&cancelled, 0);
}
