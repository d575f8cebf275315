// json_keys.c - a member of a JSON object in one call.
#include "cli/json_keys.h"

void key_text(Json *j, const char *key, Text value)
{
    json_key(j, text_of(key));
    json_text(j, value);
}

void key_string(Json *j, const char *key, const char *value)
{
    key_text(j, key, text_of(value));
}

void key_int(Json *j, const char *key, int64_t value)
{
    json_key(j, text_of(key));
    json_int(j, value);
}

void key_number(Json *j, const char *key, double value)
{
    json_key(j, text_of(key));
    json_number(j, value);
}

void key_bool(Json *j, const char *key, bool value)
{
    json_key(j, text_of(key));
    json_bool(j, value);
}
