// cli.h - what the commands share: parsed options, and the setting of a run.
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "device/device.h"
#include "op/op.h"
#include "support/support.h"

typedef enum {
#define COMMAND(id, ...) COMMAND_##id,
#include "cli/commands.def"
    COMMAND_COUNT
} CommandId;

enum {
    CMD_RUN = 1 << COMMAND_RUN,
    CMD_CHECK = 1 << COMMAND_CHECK,
    CMD_DUMP = 1 << COMMAND_DUMP,
    CMD_LDS_REPORT = 1 << COMMAND_LDS_REPORT,
    CMD_BANKS = 1 << COMMAND_BANKS,
    CMD_MATRIX = 1 << COMMAND_MATRIX,
    CMD_EXPLAIN = 1 << COMMAND_EXPLAIN,
    CMD_OPS = 1 << COMMAND_OPS,
    CMD_EXEC_ISA = 1 << COMMAND_EXEC_ISA,
    CMD_GPU = 1 << COMMAND_GPU,
    CMD_DEBUG = 1 << COMMAND_DEBUG,
    CMD_EXECUTING = CMD_RUN | CMD_GPU,
    CMD_LAUNCHING = CMD_EXECUTING | CMD_CHECK | CMD_DEBUG | CMD_DUMP |
                    CMD_LDS_REPORT,
    CMD_SWEEPING = CMD_EXECUTING | CMD_CHECK | CMD_LDS_REPORT,
    CMD_TARGETED = CMD_LAUNCHING | CMD_BANKS,
    CMD_REPORTING = CMD_EXECUTING | CMD_BANKS | CMD_MATRIX | CMD_EXPLAIN |
                    CMD_LDS_REPORT | CMD_EXEC_ISA | CMD_CHECK,
    CMD_ANY = (1 << COMMAND_COUNT) - 1,
};

typedef enum {
#define OPTION(id, ...) OPT_##id,
#include "cli/options.def"
    OPT_COUNT
} OptionId;

typedef struct {
    Text *at;
    int len, room;
} TextList;

typedef struct Cli {
    Arena *arena;
    SourceSet *sources;
    Diag *diag;                 // prints to stderr
    const OpTable *ops;
    CommandId command;
    TextList values[OPT_COUNT]; // as given; a FLAG that is set has one entry
    TextList operands;          // FILE ...
    TextList script_args;       // after --
    bool color, quiet, verbose, json;
    double started;             // when the process was, as time_now() counts
    bool leave;                 // an orderly end would wait for a device
} Cli;

// Readers of options. A value that does not parse is a usage error: it says
// so and exits 2.
bool cli_flag(const Cli *c, OptionId o);
bool cli_given(const Cli *c, OptionId o);
Text cli_text(const Cli *c, OptionId o, const char *fallback);
int64_t cli_int(const Cli *c, OptionId o, int64_t fallback, int64_t low,
                int64_t high);
double cli_float(const Cli *c, OptionId o, double fallback);
// "NAME=VALUE": false, with a usage error reported, when there is no '='.
bool cli_pair(const Cli *c, OptionId o, Text given, Text *name, Text *value);
// "X,Y,Z" or fewer, the rest 0; false: it is something else.
bool cli_coordinates(Text t, int64_t out[3]);
void cli_block(const Cli *c, int64_t out[3]);   // of --block, which is given
// The devices of --target; the first defines meaning. Exits 2 on a bad name.
int cli_devices(const Cli *c, const char *fallback, const Device **out,
                int room);
_Noreturn void cli_usage(const Cli *c, const char *format, ...)
    PRINTF_LIKE(2, 3);
// The one operand; exits 2 when there is none or more.
const char *cli_file(const Cli *c, const char *what);

// One function a command; returns the exit code.
#define COMMAND(id, function, ...) int cmd_##function(Cli *c);
#include "cli/commands.def"
#endif
