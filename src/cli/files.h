// files.h - operands of commands that take several files and folders.
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "cli/cli.h"

typedef struct {
    const char *path;
    bool from_folder;           // it need not have a kernel
} CliFile;

typedef struct {
    CliFile *at;
    int len, room;
} CliFiles;

// The operands, in their order; a folder is the .tile and .py files in it, by
// name. Reports folders that cannot be read or have none.
CliFiles cli_files(const Cli *c);
#endif
