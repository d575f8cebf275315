// files.c - operands of commands that take several files and folders.
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/files.h"

static bool is_folder(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static int is_program(const struct dirent *e)
{
    Text name = text_of(e->d_name);

    return name.at[0] != '.' &&
           (text_ends(name, ".tile") || text_ends(name, ".py"));
}

// By bytes, in any locale.
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void refuse(const Cli *c, const char *path, const char *why)
{
    diag_error(c->diag, EXIT_ENVIRONMENT, (Span){0}, "no-file",
               "cannot read '%s': %s", path, why);
}

static void add_folder(const Cli *c, const char *path, CliFiles *out)
{
    Text own = text_of(path);
    struct dirent **entries;
    int n = scandir(path, &entries, is_program, by_name);

    if (n < 0) {
        refuse(c, path, strerror(errno));
        return;
    }
    if (n == 0)
        refuse(c, path, "a folder without .tile and .py files");
    for (int i = 0; i < n; i++) {
        Text file = text_format(c->arena, "%s%s%s", path,
                                text_ends(own, "/") ? "" : "/",
                                entries[i]->d_name);
        if (!is_folder(file.at))
            vec_push(c->arena, out, ((CliFile){file.at, true}));
        free(entries[i]);
    }
    free(entries);
}

CliFiles cli_files(const Cli *c)
{
    CliFiles out = {0};

    for (int i = 0; i < c->operands.len; i++) {
        const char *path = text_cstr(c->arena, c->operands.at[i]);

        if (is_folder(path))
            add_folder(c, path, &out);
        else
            vec_push(c->arena, &out, ((CliFile){path, false}));
    }
    return out;
}
