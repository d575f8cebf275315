// sarif.c - findings for code scanning (SARIF 2.1.0).
//
// A result has the id of the finding as its rule, and the line it is about.
#include "cli/sarif.h"
#include "cli/json_keys.h"

#include <string.h>

#include "config.h"

static void begin_member(Json *j, const char *key)
{
    json_key(j, text_of(key));
    json_begin_object(j);
}

// ---- results ---------------------------------------------------------------

static bool is_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c && strchr("-._~/", c));
}

// A path as a reference of RFC 3986.
static void put_uri(SarifLog *s, const char *path)
{
    TextBuf b = {0};

    if (*path == '/')
        buf_puts(&b, "file://");
    for (; *path; path++)
        if (is_plain((unsigned char)*path))
            buf_addc(&b, *path);
        else
            buf_printf(&b, "%%%02X", (unsigned char)*path);
    json_key(&s->json, TEXT("uri"));
    json_text(&s->json, buf_view(&b));
    buf_release(&b);
}

static void put_message(Json *j, Text message)
{
    begin_member(j, "message");
    json_key(j, TEXT("text"));
    json_text(j, message);
    json_end_object(j);
}

static void put_location(SarifLog *s, Span at, Text message)
{
    Json *j = &s->json;

    json_begin_object(j);
    if (message.len)
        put_message(j, message);
    begin_member(j, "physicalLocation");
    begin_member(j, "artifactLocation");
    put_uri(s, sources_get(s->cli->sources, at.file)->path);
    json_end_object(j);
    begin_member(j, "region");
    json_key(j, TEXT("startLine"));
    json_int(j, sources_place(s->cli->sources, at.file, at.begin).line);
    json_end_object(j);
    json_end_object(j);
    json_end_object(j);
}

static void put_others(SarifLog *s, const SarifPlace *other, int count)
{
    bool some = false;

    for (int i = 0; i < count; i++)
        some |= other[i].at.file != 0;
    if (!some)
        return;
    json_key(&s->json, TEXT("relatedLocations"));
    json_begin_array(&s->json);
    for (int i = 0; i < count; i++)
        if (other[i].at.file)
            put_location(s, other[i].at, other[i].message);
    json_end_array(&s->json);
}

void sarif_result_with(SarifLog *s, const char *rule, const char *level,
                       Span at, Text message, const SarifPlace *other,
                       int count)
{
    Json *j = &s->json;

    map_set(s->cli->arena, &s->rules, text_of(rule), s);
    json_begin_object(j);
    key_string(j, "ruleId", rule);
    key_string(j, "level", level);
    put_message(j, message);
    if (at.file) {
        json_key(j, TEXT("locations"));
        json_begin_array(j);
        put_location(s, at, TEXT(""));
        json_end_array(j);
    }
    put_others(s, other, count);
    json_end_object(j);
}

void sarif_result(SarifLog *s, const char *rule, const char *level, Span at,
                  Text message)
{
    sarif_result_with(s, rule, level, at, message, NULL, 0);
}

static Text told_key(SarifLog *s, const char *rule, Span at)
{
    return text_format(s->cli->arena, "%s %u %u", rule, at.file, at.begin);
}

void sarif_told(SarifLog *s, const char *rule, Span at)
{
    map_set(s->cli->arena, &s->told, told_key(s, rule, at), s);
}

// ---- the log ---------------------------------------------------------------

void sarif_begin(SarifLog *s, const Cli *c)
{
    Json *j = &s->json;

    s->cli = c;
    *j = json_start(&s->out, true);
    json_begin_object(j);
    key_string(j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    key_string(j, "version", "2.1.0");
    json_key(j, TEXT("runs"));
    json_begin_array(j);
    json_begin_object(j);
    json_key(j, TEXT("results"));
    json_begin_array(j);
}

// Errors alone: what a script is warned of concerns a run, and nothing ran.
static void put_errors(SarifLog *s)
{
    const DiagEntry *at;
    int n = diag_entries(s->cli->diag, &at);

    for (int i = 0; i < n; i++)
        if (at[i].level == DIAG_ERROR &&
            !map_get(&s->told, told_key(s, at[i].id, at[i].at)))
            sarif_result(s, at[i].id, "error", at[i].at, at[i].message);
}

static void put_tool(SarifLog *s)
{
    Json *j = &s->json;

    begin_member(j, "tool");
    begin_member(j, "driver");
    key_string(j, "name", PACKAGE_NAME);
    key_string(j, "version", PACKAGE_VERSION);
    json_key(j, TEXT("rules"));
    json_begin_array(j);
    for (int i = 0; i < s->rules.len; i++) {
        json_begin_object(j);
        json_key(j, TEXT("id"));
        json_text(j, s->rules.at[i].key);
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
    json_end_object(j);
}

void sarif_end(SarifLog *s)
{
    put_errors(s);
    json_end_array(&s->json);
    put_tool(s);
    json_end_object(&s->json);
    json_end_array(&s->json);
    json_end_object(&s->json);
    buf_addc(&s->out, '\n');
}
