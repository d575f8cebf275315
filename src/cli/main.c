// main.c - the command line.
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "support/support.h"

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts(PACKAGE_STRING);
        return EXIT_CLEAN;
    }
    fatal(EXIT_USAGE, "usage: tilesim COMMAND [options] FILE");
}
