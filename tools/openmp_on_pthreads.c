/* The functions of libgomp that the core calls, on pthreads.
 *
 * ThreadSanitizer sees neither the barriers nor the pool of threads of libgomp, and reports every
 * pair of loops as a race. What is preloaded here starts threads and waits for them by functions
 * that it knows, so that every report is one. */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct {
    int size;
    pthread_barrier_t barrier;
    pthread_mutex_t mutex;      /* of the loop, whose rounds are told apart by number */
    long next, end, step, chunk;
    int round;
} team;

typedef struct {
    void (*body)(void *);
    void *data;
    team *team;
    int number;
} member;

static __thread team *own_team;
static __thread int own_number, own_round;

static void *run(void *argument)
{
    const member *self = argument;
    team *outer = own_team;
    int number = own_number, round = own_round;
    own_team = self->team;
    own_number = self->number;
    own_round = 0;
    self->body(self->data);
    own_team = outer;
    own_number = number;
    own_round = round;
    return NULL;
}

void GOMP_parallel(void (*body)(void *), void *data, unsigned n_threads, unsigned flags)
{
    int size = own_team != NULL || n_threads == 0 ? 1 : (int)n_threads, i;
    pthread_t *threads = malloc((size_t)size * sizeof *threads);
    member *members = malloc((size_t)size * sizeof *members);
    team together = {.size = size};
    (void)flags;
    if (threads == NULL || members == NULL)
        abort();
    pthread_barrier_init(&together.barrier, NULL, (unsigned)size);
    pthread_mutex_init(&together.mutex, NULL);
    for (i = 0; i < size; i++) {
        members[i] = (member){body, data, &together, i};
        if (i > 0 && pthread_create(&threads[i], NULL, run, &members[i]) != 0)
            abort();
    }
    run(&members[0]);
    for (i = 1; i < size; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&together.barrier);
    pthread_mutex_destroy(&together.mutex);
    free(threads);
    free(members);
}

void GOMP_barrier(void)
{
    if (own_team != NULL)
        pthread_barrier_wait(&own_team->barrier);
}

/* ------------------------------------------------------------------ dynamic schedules */

bool GOMP_loop_nonmonotonic_dynamic_next(long *first, long *last)
{
    team *t = own_team;
    bool found;
    pthread_mutex_lock(&t->mutex);
    found = t->step > 0 ? t->next < t->end : t->next > t->end;
    if (found) {
        *first = t->next;
        *last = t->next + t->step * t->chunk;
        if (t->step > 0 ? *last > t->end : *last < t->end)
            *last = t->end;
        t->next = *last;
    }
    pthread_mutex_unlock(&t->mutex);
    return found;
}

/* One loop at a time: the core has a barrier, or the end of the region, after each. */
bool GOMP_loop_nonmonotonic_dynamic_start(long start, long end, long step, long chunk, long *first,
                                          long *last)
{
    team *t = own_team;
    pthread_mutex_lock(&t->mutex);
    if (own_round++ == t->round) {
        t->round++;
        t->next = start;
        t->end = end;
        t->step = step;
        t->chunk = chunk;
    }
    pthread_mutex_unlock(&t->mutex);
    return GOMP_loop_nonmonotonic_dynamic_next(first, last);
}

void GOMP_loop_end_nowait(void)
{
}

/* ------------------------------------------------------------------ numbers and locks */

int omp_get_thread_num(void)
{
    return own_team == NULL ? 0 : own_number;
}

int omp_get_num_threads(void)
{
    return own_team == NULL ? 1 : own_team->size;
}

void omp_init_lock(int *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELAXED);
}

void omp_destroy_lock(int *lock)
{
    (void)lock;
}

void omp_set_lock(int *lock)
{
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

void omp_unset_lock(int *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}
