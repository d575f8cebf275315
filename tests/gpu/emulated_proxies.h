// emulated_proxies.h - threads see shared memory one way, the copy engine and
// the matrix unit another: what a thread did there is sure to be over for them
// behind a fence_async. Who used 16 bytes last is kept.

struct Toucher {
    int thread;
    unsigned block, time;           // in fences of all threads
};
struct Touched {
    Toucher read, written;
};
static Touched touched_by[(1 << 18) / 16];
static unsigned fences, fenced_at[1024];

static inline Touched *touched(const void *p)
{
    uintptr_t at = (uintptr_t)p - (uintptr_t)*emulator.arena;
    return at < 1 << 18 ? &touched_by[at / 16] : nullptr;
}
static inline Toucher me()
{
    return Toucher{emulator.thread_number(), *emulator.block_number, fences};
}
static inline void note_read(const void *p)
{
    if (Touched *t = touched(p))
        t->read = me();
}
static inline void note_written(const void *p)
{
    if (Touched *t = touched(p))
        t->written = me();
}
extern "C" int dprintf(int file, const char *format, ...);
static inline void must_align(const void *p, int bytes)
{
    if ((uintptr_t)p % bytes == 0)
        return;
    dprintf(2, "emulated: %d bytes at an address that is no multiple\n", bytes);
    __builtin_trap();
}
// Of at most 16 bytes.
static inline void note_move(const void *to, const void *from, int bytes)
{
    must_align(to, bytes);
    must_align(from, bytes);
    note_read(from);
    note_written(to);
}
static inline void fence_async()
{
    fenced_at[emulator.thread_number()] = ++fences;
}

static inline bool fenced(const Toucher *t, int by)
{
    return t->block != *emulator.block_number || fenced_at[by] > t->time;
}
static inline void unfenced(const char *who, const void *p)
{
    dprintf(2, "emulated: %s at shared byte %d: no fence_async since\n", who,
            (int)((const unsigned char *)p - *emulator.arena));
    __builtin_trap();
}
// What was written may be fenced by the thread that asks the unit, too.
static inline void unit_reads(const void *p)
{
    const Touched *t = touched(p);
    if (t && !fenced(&t->written, t->written.thread) &&
        !fenced(&t->written, emulator.thread_number()))
        unfenced("a unit reads what a thread wrote", p);
}
static inline void unit_writes(const void *p)
{
    const Touched *t = touched(p);
    if (t && !(fenced(&t->written, t->written.thread) &&
               fenced(&t->read, t->read.thread)))
        unfenced("a copy overwrites what a thread used", p);
}
