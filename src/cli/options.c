// options.c - the command line by options.def: parsing, help, readers.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_int.h"

enum { KIND_FLAG, KIND_ONE, KIND_MANY };

typedef struct {
    const char *name;
    char letter;
    int kind;
    unsigned commands;
    const char *meta, *doc;
} OptionRow;

static const OptionRow rows[] = {
#define OPTION(id, name, letter, kind, commands, meta, doc)                    \
    [OPT_##id] = {name, letter, KIND_##kind, commands, meta, doc},
#include "cli/options.def"
};

static const struct {
    const char *name, *operands, *summary, *example;
} commands[] = {
#define COMMAND(id, function, name, operands, summary, example)                \
    [COMMAND_##id] = {name, operands, summary, example},
#include "cli/commands.def"
};

void cli_usage(const Cli *c, const char *format, ...)
{
    TextBuf b = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&b, format, args);
    va_end(args);
    fprintf(stderr, "tilesim: %.*s\n", (int)b.len, b.at);
    if (c && c->command < COMMAND_COUNT)
        fprintf(stderr, "tilesim: 'tilesim %s --help' lists the options\n",
                commands[c->command].name);
    buf_release(&b);
    exit(EXIT_USAGE);
}

// ---- parsing ----------------------------------------------------------------

bool cli_command_find(const char *name, CommandId *out)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0) {
            *out = (CommandId)i;
            return true;
        }
    return false;
}

_Noreturn void cli_unknown_command(const char *name)
{
    NearWord near = {.name = text_of(name)};

    for (int i = 0; i < COMMAND_COUNT; i++)
        near_try(&near, text_of(commands[i].name));
    if (near.word.len)
        cli_usage(NULL, "unknown command '%s'; did you mean '%.*s'?", name,
                  TEXT_ARG(near.word));
    cli_usage(NULL, "unknown command '%s'; 'tilesim --help' lists them", name);
}

static OptionId nearest_option(const Cli *c, Text name)
{
    OptionId best = OPT_COUNT;
    int distance = 4;
    for (int i = 0; i < OPT_COUNT; i++) {
        int d = text_distance(text_of(rows[i].name), name);
        if (name.len > 2 && (rows[i].commands & (1u << c->command))
            && d < distance) {
            distance = d;
            best = (OptionId)i;
        }
    }
    return best;
}

static _Noreturn void unknown_option(const Cli *c, Text name)
{
    OptionId near = nearest_option(c, name);
    if (near != OPT_COUNT)
        cli_usage(c, "unknown option '%.*s'; did you mean '%s'?",
                  TEXT_ARG(name), rows[near].name);
    cli_usage(c, "unknown option '%.*s' of '%s'", TEXT_ARG(name),
              commands[c->command].name);
}

static OptionId find_option(const Cli *c, Text name)
{
    bool letter = name.len == 2 && name.at[1] != '-', others = false;
    for (int i = 0; i < OPT_COUNT; i++) {
        bool hit = letter ? rows[i].letter == name.at[1]
                          : text_is(name, rows[i].name);
        if (hit && (rows[i].commands & (1u << c->command)))
            return (OptionId)i;
        others = others || hit;
    }
    if (others)
        cli_usage(c, "'%s' has no option '%.*s'", commands[c->command].name,
                  TEXT_ARG(name));
    unknown_option(c, name);
}

static void set_option(Cli *c, OptionId o, Text value)
{
    if (rows[o].kind != KIND_MANY)
        c->values[o].len = 0;
    vec_push(c->arena, &c->values[o], value);
}

// "--name=value", "-Dname=value", "-j2", or the value is the next word.
static int parse_option(Cli *c, char **words, int count)
{
    Text word = text_of(words[0]), value = {0};
    bool attached = false;
    if (text_starts(word, "--")) {
        const char *eq = memchr(word.at, '=', word.len);
        if (eq) {
            value = text_slice(word, eq + 1 - word.at, word.len);
            word = text_slice(word, 0, eq - word.at);
            attached = true;
        }
    } else if (word.len > 2) {
        value = text_slice(word, 2, word.len);
        word = text_slice(word, 0, 2);
        attached = true;
    }
    OptionId o = find_option(c, word);
    if (rows[o].kind == KIND_FLAG) {
        if (attached)
            cli_usage(c, "option '%s' takes no value", rows[o].name);
        set_option(c, o, TEXT("1"));
        return 1;
    }
    if (!attached) {
        if (count < 2)
            cli_usage(c, "option '%s' needs a value: %s %s", rows[o].name,
                      rows[o].name, rows[o].meta);
        value = text_of(words[1]);
    }
    set_option(c, o, value);
    return attached ? 1 : 2;
}

void cli_parse(Cli *c, char **words, int count)
{
    for (int i = 0; i < count;) {
        if (strcmp(words[i], "--") == 0) {
            for (i++; i < count; i++)
                vec_push(c->arena, &c->script_args, text_of(words[i]));
        } else if (words[i][0] == '-' && words[i][1]) {
            i += parse_option(c, words + i, count - i);
        } else {
            vec_push(c->arena, &c->operands, text_of(words[i]));
            i++;
        }
    }
}

// ---- readers ----------------------------------------------------------------

bool cli_flag(const Cli *c, OptionId o)
{
    return c->values[o].len > 0;
}

bool cli_given(const Cli *c, OptionId o)
{
    return c->values[o].len > 0;
}

Text cli_text(const Cli *c, OptionId o, const char *fallback)
{
    const TextList *v = &c->values[o];
    return v->len ? v->at[v->len - 1] : text_of(fallback);
}

int64_t cli_int(const Cli *c, OptionId o, int64_t fallback, int64_t low,
                int64_t high)
{
    int64_t n = fallback;
    if (!c->values[o].len)
        return fallback;
    Text t = cli_text(c, o, "");
    if (!text_to_i64(t, &n) || n < low || n > high)
        cli_usage(c, "%s '%.*s': expected a whole number from %lld to %lld",
                  rows[o].name, TEXT_ARG(t), (long long)low, (long long)high);
    return n;
}

double cli_float(const Cli *c, OptionId o, double fallback)
{
    double x = fallback;
    if (!c->values[o].len)
        return fallback;
    Text t = cli_text(c, o, "");
    if (!text_to_f64(t, &x) || !isfinite(x) || x < 0)
        cli_usage(c, "%s '%.*s': expected a number of 0 or more", rows[o].name,
                  TEXT_ARG(t));
    return x;
}

bool cli_coordinates(Text t, int64_t out[3])
{
    int n = 0;

    out[1] = out[2] = 0;
    for (size_t i = 0; i <= t.len; n++) {
        size_t j = i;
        while (j < t.len && t.at[j] != ',')
            j++;
        if (n == 3 || !text_to_i64(text_slice(t, i, j), &out[n]) || out[n] < 0)
            return false;
        i = j + 1;
    }
    return true;
}

void cli_block(const Cli *c, int64_t out[3])
{
    Text t = cli_text(c, OPT_BLOCK, "");

    if (!cli_coordinates(t, out))
        cli_usage(c, "--block '%.*s': expected X,Y,Z", TEXT_ARG(t));
}

bool cli_pair(const Cli *c, OptionId o, Text given, Text *name, Text *value)
{
    const char *eq = memchr(given.at, '=', given.len);
    if (!eq || eq == given.at)
        cli_usage(c, "%s '%.*s': expected %s", rows[o].name, TEXT_ARG(given),
                  rows[o].meta);
    *name = text_slice(given, 0, eq - given.at);
    *value = text_slice(given, eq + 1 - given.at, given.len);
    return true;
}

static const Device *device_or_usage(const Cli *c, Text name)
{
    const Device *d = device_find(name);
    if (d)
        return d;
    const Device *near = device_nearest(name);
    if (near)
        cli_usage(c, "unknown target '%.*s'; did you mean '%s'?",
                  TEXT_ARG(name), near->name);
    TextBuf b = {0};
    for (int i = 0; i < device_count(); i++)
        buf_printf(&b, "%s%s", i ? ", " : "", device_at(i)->name);
    cli_usage(c, "unknown target '%.*s'; there are %.*s", TEXT_ARG(name),
              (int)b.len, b.at);
}

int cli_devices(const Cli *c, const char *fallback, const Device **out,
                int room)
{
    Text list = cli_text(c, OPT_TARGET, fallback);
    int n = 0;
    if (text_is(list, "all")) {
        for (; n < device_count() && n < room; n++)
            out[n] = device_at(n);
        return n;
    }
    for (size_t i = 0; i <= list.len;) {
        size_t j = i;
        while (j < list.len && list.at[j] != ',')
            j++;
        if (n == room)
            cli_usage(c, "too many targets: at most %d", room);
        out[n++] = device_or_usage(c, text_trim(text_slice(list, i, j)));
        i = j + 1;
    }
    return n;
}

const char *cli_file(const Cli *c, const char *what)
{
    if (c->operands.len == 0)
        cli_usage(c, "no file given: tilesim %s %s", commands[c->command].name,
                  what);
    if (c->operands.len > 1)
        cli_usage(c, "one file at a time: '%.*s' is a second one",
                  TEXT_ARG(c->operands.at[1]));
    return text_cstr(c->arena, c->operands.at[0]);
}

// ---- help -------------------------------------------------------------------

void cli_help(void)
{
    TextBuf b = {0};
    buf_puts(&b, "usage: tilesim COMMAND [options] FILE\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        buf_printf(&b, "  %s", commands[i].name);
        for (int pad = strlen(commands[i].name); pad < 12; pad++)
            buf_addc(&b, ' ');
        buf_printf(&b, "%s\n", commands[i].summary);
    }
    buf_printf(&b, "\nexample: %s\n", commands[COMMAND_RUN].example);
    buf_puts(&b, "'tilesim COMMAND --help' lists a command's options; "
                 "'tilesim --version' says what was built in.\n");
    buf_write(&b, stdout);
    buf_release(&b);
}

static void help_row(TextBuf *b, const OptionRow *r)
{
    size_t start = b->len;
    if (r->letter)
        buf_printf(b, "  -%c, ", r->letter);
    else
        buf_puts(b, "      ");
    buf_printf(b, "%s %s", r->name, r->meta);
    while (b->len - start < 32)
        buf_addc(b, ' ');
    buf_printf(b, " %s\n", r->doc);
}

void cli_command_help(CommandId id)
{
    TextBuf b = {0};
    buf_printf(&b, "usage: tilesim %s [options] %s\n", commands[id].name,
               commands[id].operands);
    buf_printf(&b, "%s\n\n", commands[id].summary);
    for (int i = 0; i < OPT_COUNT; i++)
        if (rows[i].commands & (1u << id))
            help_row(&b, &rows[i]);
    buf_printf(&b, "\nexample: %s\n", commands[id].example);
    buf_write(&b, stdout);
    buf_release(&b);
}
