/* To be preloaded: the most that the whole process holds at a time, in bytes, of what it asks for
 * between two calls. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int counting;
static ptrdiff_t held, peak;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static void count(ptrdiff_t bytes)
{
    ptrdiff_t now, before;
    if (!counting)
        return;
    now = __atomic_add_fetch(&held, bytes, __ATOMIC_RELAXED);
    before = __atomic_load_n(&peak, __ATOMIC_RELAXED);
    while (now > before && !__atomic_compare_exchange_n(&peak, &before, now, 1, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED))
        ;
}

static void *counted(void *memory)
{
    count(memory == NULL ? 0 : (ptrdiff_t)malloc_usable_size(memory));
    return memory;
}

void count_malloc_start(void)
{
    held = peak = 0;
    counting = 1;
}

size_t count_malloc_stop(void)
{
    counting = 0;
    return (size_t)peak;
}

void *malloc(size_t bytes)
{
    return counted(__libc_malloc(bytes));
}

void *calloc(size_t number, size_t bytes)
{
    return counted(__libc_calloc(number, bytes));
}

void free(void *memory)
{
    count(memory == NULL ? 0 : -(ptrdiff_t)malloc_usable_size(memory));
    __libc_free(memory);
}

void *realloc(void *memory, size_t bytes)
{
    count(memory == NULL ? 0 : -(ptrdiff_t)malloc_usable_size(memory));
    return counted(__libc_realloc(memory, bytes));
}

void *memalign(size_t alignment, size_t bytes)
{
    return counted(__libc_memalign(alignment, bytes));
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    *memory = memalign(alignment, bytes);
    return *memory == NULL ? 12 : 0;
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    count((ptrdiff_t)bytes);
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
}
