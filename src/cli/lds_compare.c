// lds_compare.c - what a change did: an earlier --json document against this
// run.
//
// Launches are matched by the kernel's file, name and order, accesses by buffer,
// way and order, so that lines may move; where one was added or taken away, by
// their lines.
#include "cli/lds_compare.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

// ---- reading ---------------------------------------------------------------

static const cJSON *member(const cJSON *j, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(j, key);
}

const char *lds_string(const cJSON *j, const char *key)
{
    const char *s = cJSON_GetStringValue(member(j, key));

    return s ? s : "";
}

static bool has_strings(const cJSON *j, const char *const *keys)
{
    for (; *keys; keys++)
        if (!cJSON_IsString(member(j, *keys)))
            return false;
    return true;
}

static bool is_target(const cJSON *j)
{
    static const char *const own[] = {"target", NULL};
    static const char *const access[] = {"buffer", "space", "way",
                                         "instruction", NULL};
    const cJSON *a;

    if (!has_strings(j, own) || !cJSON_IsNumber(member(j, "bytes")) ||
        !cJSON_IsNumber(member(j, "limit")) ||
        !cJSON_IsArray(member(j, "accesses")))
        return false;
    cJSON_ArrayForEach(a, member(j, "accesses"))
        if (!has_strings(a, access))
            return false;
    return true;
}

static bool is_kernel(const cJSON *j)
{
    static const char *const own[] = {"kernel", NULL};
    const cJSON *launch, *target;

    if (!has_strings(j, own) || !cJSON_IsArray(member(j, "launches")))
        return false;
    cJSON_ArrayForEach(launch, member(j, "launches")) {
        if (!cJSON_IsArray(member(launch, "targets")))
            return false;
        cJSON_ArrayForEach(target, member(launch, "targets"))
            if (!is_target(target))
                return false;
    }
    return true;
}

// NULL, or why it cannot be compared with.
static const char *why_not(const cJSON *j)
{
    const cJSON *kernel;

    if (!j)
        return "it is not valid JSON";
    if (strcmp(lds_string(j, "schema"), "tilesim/1") ||
        strcmp(lds_string(j, "command"), "lds-report"))
        return "it is no document of 'tilesim lds-report --json'";
    if (member(j, "points"))
        return "it holds the points of a sweep; expected a report without "
               "--sweep";
    if (!cJSON_IsArray(member(j, "kernels")))
        return "it holds no kernels; expected a report without --compare";
    cJSON_ArrayForEach(kernel, member(j, "kernels"))
        if (!is_kernel(kernel))
            return "a kernel in it is not as docs/json.schema describes it";
    return NULL;
}

bool lds_compare_open(LdsComparison *w, Cli *c)
{
    const char *path = text_cstr(c->arena, cli_text(c, OPT_COMPARE, "")), *why;
    char *at;
    size_t len;

    *w = (LdsComparison){.cli = c, .path = path};
    if (!file_read(path, &at, &len, &why)) {
        diag_error(c->diag, EXIT_ENVIRONMENT, (Span){0}, "no-file",
                   "cannot read '%s': %s", path, why);
        return false;
    }
    w->before = cJSON_ParseWithLength(at, len);
    free(at);
    why = why_not(w->before);
    if (!why)
        return true;
    diag_error(c->diag, EXIT_ENVIRONMENT, (Span){0}, "no-report",
               "cannot compare with '%s': %s", path, why);
    lds_compare_close(w);
    return false;
}

void lds_compare_close(LdsComparison *w)
{
    cJSON_Delete(w->before);
    cJSON_Delete(w->after);
    w->before = w->after = NULL;
}

// ---- differences -----------------------------------------------------------

typedef struct {
    Arena *arena;
    LdsDifference here;                    // what is compared now
    struct {
        LdsDifference *at;
        int len, room;
    } all;
} Walk;

static LdsValue value_of(const cJSON *j)
{
    if (cJSON_IsNumber(j))
        return (LdsValue){LDS_NUMBER, j->valuedouble, NULL};
    if (cJSON_IsString(j))
        return (LdsValue){LDS_WORD, 0, j->valuestring};
    if (cJSON_IsBool(j))
        return (LdsValue){LDS_BOOL, cJSON_IsTrue(j), NULL};
    return (LdsValue){0};
}

static bool same(LdsValue a, LdsValue b)
{
    return a.kind == b.kind && a.number == b.number &&
           (a.kind != LDS_WORD || !strcmp(a.word, b.word));
}

static void differ(Walk *w, const char *key, const char *label, LdsValue before,
                   LdsValue after)
{
    LdsDifference d = w->here;

    if (same(before, after))
        return;
    d.key = key;
    d.label = label;
    d.before = before;
    d.after = after;
    vec_push(w->arena, &w->all, d);
}

// A launch, a target or an access that only one of the two has.
static void only_one(Walk *w, const char *key, bool before)
{
    differ(w, key, NULL, (LdsValue){LDS_BOOL, before, NULL},
           (LdsValue){LDS_BOOL, !before, NULL});
}

typedef struct {
    const char *key, *label;
} Row;

static void compare_rows(Walk *w, const Row *row, const cJSON *before,
                         const cJSON *after)
{
    for (; row->key; row++)
        differ(w, row->key, row->label, value_of(member(before, row->key)),
               value_of(member(after, row->key)));
}

// ---- accesses --------------------------------------------------------------

static bool alike(const cJSON *a, const cJSON *b)
{
    static const char *const keys[] = {"buffer", "space", "way"};

    for (size_t i = 0; i < countof(keys); i++)
        if (strcmp(lds_string(a, keys[i]), lds_string(b, keys[i])))
            return false;
    return true;
}

int lds_access_line(const cJSON *a)
{
    const cJSON *line = member(a, "line");

    return cJSON_IsNumber(line) ? line->valueint : 0;
}

static int count_alike(const cJSON *list, const cJSON *a)
{
    const cJSON *b;
    int n = 0;

    cJSON_ArrayForEach(b, list)
        n += alike(a, b);
    return n;
}

// The one of `list` that is `a`, an element of `own`.
static const cJSON *partner(const cJSON *own, const cJSON *a,
                            const cJSON *list)
{
    bool by_order = count_alike(own, a) == count_alike(list, a);
    const cJSON *b;
    int before = 0;     // in `own`, those that could be `b` as well

    cJSON_ArrayForEach(b, own) {
        if (b == a)
            break;
        before += alike(a, b) && (by_order || lds_access_line(a) == lds_access_line(b));
    }
    cJSON_ArrayForEach(b, list)
        if (alike(a, b) && (by_order || lds_access_line(a) == lds_access_line(b)) &&
            before-- == 0)
            return b;
    return NULL;
}

static LdsValue conflicts_each(const cJSON *a)
{
    const cJSON *n = member(a, "conflicts"), *runs = member(a, "executions");

    if (!cJSON_IsNumber(n) || !cJSON_IsNumber(runs) || runs->valuedouble <= 0)
        return (LdsValue){0};
    return (LdsValue){LDS_NUMBER, n->valuedouble / runs->valuedouble, NULL};
}

static void compare_access(Walk *w, const cJSON *before, const cJSON *after)
{
    static const Row first[] = {
        {"instruction", "instruction"}, {"not_counted", "not counted"},
        {"ways", "ways"}, {NULL, NULL},
    };
    static const Row last[] = {
        {"conflicts", "extra cycles"}, {"cycles", "cycles"},
        {"bytes_moved", "bytes moved"}, {NULL, NULL},
    };

    compare_rows(w, first, before, after);
    differ(w, "conflicts_each", "conflicts of an execution",
           conflicts_each(before), conflicts_each(after));
    compare_rows(w, last, before, after);
}

static void compare_accesses(Walk *w, const cJSON *before, const cJSON *after)
{
    const cJSON *a, *b;

    cJSON_ArrayForEach(b, after) {
        w->here.access = b;
        a = partner(after, b, before);
        if (a)
            compare_access(w, a, b);
        else
            only_one(w, "access", false);
    }
    cJSON_ArrayForEach(a, before) {
        w->here.access = a;
        if (!partner(before, a, after))
            only_one(w, "access", true);
    }
    w->here.access = NULL;
}

// ---- targets and launches --------------------------------------------------

static void compare_target(Walk *w, const cJSON *before, const cJSON *after)
{
    static const Row budget[] = {
        {"bytes", "block, bytes"}, {"limit", "limit"}, {"fits", "fits"},
        {"threads", "threads of a block"},
        {"fragment_registers", "registers of fragments"},
        {"blocks_at_most", "blocks of a CU or SM, at most"}, {NULL, NULL},
    };
    static const Row ledger[] = {
        {"binds", "what binds"}, {"floor_us", "time at least, us"}, {NULL, NULL},
    };

    compare_rows(w, budget, before, after);
    compare_accesses(w, member(before, "accesses"), member(after, "accesses"));
    compare_rows(w, ledger, member(before, "ledger"), member(after, "ledger"));
}

static const cJSON *target_named(const cJSON *targets, const char *name)
{
    const cJSON *t;

    cJSON_ArrayForEach(t, targets)
        if (!strcmp(lds_string(t, "target"), name))
            return t;
    return NULL;
}

static void compare_launch(Walk *w, const cJSON *before, const cJSON *after)
{
    const cJSON *a = member(before, "targets"), *b = member(after, "targets");
    const cJSON *t;

    cJSON_ArrayForEach(t, b) {
        w->here.target = lds_string(t, "target");
        if (target_named(a, w->here.target))
            compare_target(w, target_named(a, w->here.target), t);
        else
            only_one(w, "target", false);
    }
    cJSON_ArrayForEach(t, a) {
        w->here.target = lds_string(t, "target");
        if (!target_named(b, w->here.target))
            only_one(w, "target", true);
    }
    w->here.target = NULL;
}

// `file` is empty where a report has one.
static bool same_name(const cJSON *a, const cJSON *b)
{
    return !strcmp(lds_string(a, "kernel"), lds_string(b, "kernel")) &&
           !strcmp(lds_string(a, "file"), lds_string(b, "file"));
}

// The one of `list` that `k`, of `own`, is: as many of its name are before it.
static const cJSON *kernel_like(const cJSON *own, const cJSON *k,
                                const cJSON *list)
{
    const cJSON *other;
    int before = 0;

    cJSON_ArrayForEach(other, own) {
        if (other == k)
            break;
        before += same_name(other, k);
    }
    cJSON_ArrayForEach(other, list)
        if (same_name(other, k) && before-- == 0)
            return other;
    return NULL;
}

// `before` or `after` may be NULL.
static void compare_kernel(Walk *w, const cJSON *before, const cJSON *after)
{
    const cJSON *a = member(before, "launches");
    const cJSON *b = member(after, "launches");
    int n = cJSON_GetArraySize(a), m = cJSON_GetArraySize(b);

    w->here = (LdsDifference){.kernel = after ? after : before,
                              .launch_count = n > m ? n : m};
    for (int i = 0; i < n || i < m; i++) {
        w->here.launch = i;
        if (i < n && i < m)
            compare_launch(w, cJSON_GetArrayItem(a, i),
                           cJSON_GetArrayItem(b, i));
        else
            only_one(w, "launch", i < n);
    }
}

static void compare(LdsComparison *c)
{
    const cJSON *a = member(c->before, "kernels"), *k;
    const cJSON *b = member(c->after, "kernels");
    Walk w = {.arena = c->cli->arena};

    cJSON_ArrayForEach(k, b)
        compare_kernel(&w, kernel_like(b, k, a), k);
    cJSON_ArrayForEach(k, a)
        if (!kernel_like(a, k, b))
            compare_kernel(&w, k, NULL);
    c->at = w.all.at;
    c->count = w.all.len;
}

void lds_compare_with(LdsComparison *w, Text document)
{
    w->after = cJSON_ParseWithLength(document.at, document.len);
    if (why_not(w->after))
        BUG("lds-report cannot read its own document");
    compare(w);
}
