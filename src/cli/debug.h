// debug.h - what the files of `tilesim debug` share.
#ifndef CLI_DEBUG_H
#define CLI_DEBUG_H

#include "cli/debug_show.h"
#include "cli/session.h"

typedef enum { TO_STEP, TO_NEXT, TO_STOP, TO_NAN } Going;

typedef struct {
    int line;
    Text condition, test;           // or empty; as an expression, bool(...)
} Break;

typedef struct {
    Text expression;
    TextBuf bits, words;            // at the last step: elements, as shown
} Watch;

typedef struct {
    Session s;
    Diag *diag;                     // of commands
    FILE *in;
    bool talks;                     // to a terminal
    int line;                       // of the commands
    Text last;                      // command, which an empty line repeats
    bool failed;                    // a command of a file

    KernelObject *kernel;
    const CodeStep *steps;
    const IrStmt **stmt;            // by id
    int launch;
    int64_t block[3];
    bool again, quit, reached, goes;

    const InterpStop *at;
    const CodeStep *step;
    Going going;
    int warp, depth;                // where the last command was given
    int before;                     // line of the last step
    int64_t skip;                   // stops to pass by
    int64_t *nan;                   // by buffer, at the last step
    struct {
        Break *at;
        int len, room;
    } breaks;
    struct {
        Watch *at;
        int len, room;
    } watches;
} Debug;

// Says so, and ends a file of commands.
void debug_fail(Debug *d, const char *format, ...) PRINTF_LIKE(2, 3);

// debug_print.c
// Python's expressions on the program's names. The value stays pinned. False
// after saying why.
bool debug_evaluate(Debug *d, Text e, Value *out);
int debug_line(const Debug *d);
void debug_place(Debug *d, const char *why);    // where it is, after `why`
// Commands: what stands behind their names.
void debug_print(Debug *d, Text e);
void debug_heat(Debug *d, Text e);
void debug_owner(Debug *d, Text e);
void debug_where(Debug *d, Text e);
void debug_list(Debug *d, Text e);
void debug_names(Debug *d, Text e);

// debug_stop.c
void debug_break(Debug *d, Text e);
void debug_delete(Debug *d, Text e);
void debug_forget_stops(Debug *d);              // all of them
void debug_stops(Debug *d, Text e);
void debug_watch(Debug *d, Text e);
void debug_count_nan(Debug *d);                 // as they are now
// Why the block stops before this step; NULL: it does not.
const char *debug_reason(Debug *d, TextBuf *words);
#endif
