// json.h - writes JSON as it goes.
//
//     Json j = json_start(&buf, true);
//     json_begin_object(&j);
//     json_key(&j, TEXT("seed"));
//     json_int(&j, 7);
//     json_end_object(&j);
//
// Calls out of order (a value without a key, an unclosed array) are a BUG.
#ifndef SUPPORT_JSON_H
#define SUPPORT_JSON_H

#include "support/support.h"

typedef struct {
    TextBuf *out;
    bool indent;                                // one member a line
    bool after_key;
    int depth;
    struct {
        char close;                             // '}' or ']'
        bool any;                               // holds a value already
    } open[32];
} Json;

Json json_start(TextBuf *out, bool indent);
void json_begin_object(Json *j);
void json_end_object(Json *j);
void json_begin_array(Json *j);
void json_end_array(Json *j);
void json_key(Json *j, Text key);
// Bytes that are not UTF-8 become U+FFFD.
void json_text(Json *j, Text value);
void json_string(Json *j, const char *value);   // NULL: null
void json_int(Json *j, int64_t value);
void json_uint(Json *j, uint64_t value);
// The shortest decimal that reads back the same; "nan", "inf" and "-inf" are
// strings, for JSON has no such numbers.
void json_number(Json *j, double value);
void json_bool(Json *j, bool value);
void json_null(Json *j);
#endif
