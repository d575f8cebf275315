// json_keys.h - a member of a JSON object in one call.
#ifndef CLI_JSON_KEYS_H
#define CLI_JSON_KEYS_H

#include "support/json.h"

void key_text(Json *j, const char *key, Text value);
void key_string(Json *j, const char *key, const char *value);
void key_int(Json *j, const char *key, int64_t value);
void key_number(Json *j, const char *key, double value);
void key_bool(Json *j, const char *key, bool value);
#endif
