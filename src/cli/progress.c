// progress.c - a line on the terminal for what takes long.
#include "cli/progress.h"

#include <unistd.h>

void progress_start(ProgressLine *p, const Cli *c)
{
    *p = (ProgressLine){.on = !c->quiet && isatty(STDERR_FILENO),
                        .started = time_now()};
}

void progress_tell(void *line, const char *what, int64_t done, int64_t total)
{
    ProgressLine *p = line;
    double now = time_now(), seconds = now - p->started;

    if (!p->on || (total && (seconds < 0.5 || now - p->last < 0.1)))
        return;
    p->last = now;
    p->shown = true;
    if (total)
        fprintf(stderr, "\r\033[K%lld of %lld %s  %.0f s ", (long long)done,
                (long long)total, what, seconds);
    else
        fprintf(stderr, "\r\033[K%s ... ", what);
    fflush(stderr);
}

void progress_blocks(void *line, int64_t done, int64_t total)
{
    progress_tell(line, "blocks", done, total);
}

void progress_end(ProgressLine *p)
{
    if (p->shown)
        fprintf(stderr, "\r\033[K");
    p->shown = false;
}
