/* options.h: minifat's command line: each input with the options before it, and the output. */
#pragma once

#include <stdio.h>

#include "hostobj.h"
#include "inspect.h"
#include "pack.h"

enum options_action {
    OPTIONS_PACK,    /* go on and pack */
    OPTIONS_HELP,    /* print the help and end */
    OPTIONS_VERSION, /* print the version and end */
    OPTIONS_WRONG,   /* a usage error has been reported */
};

enum options_format { FORMAT_BY_SUFFIX, FORMAT_FATBIN, FORMAT_OBJECT, FORMAT_OFFLOAD };

/* One input, with the options that stood before it. */
struct options_input {
    const char *path;
    struct inspect_request request;
    struct text options; /* the entry's option string */
};

/* What the command line says. Start with {0}; free with options_free. Strings are argv's. */
struct options {
    const char *output;
    enum options_format format;   /* settled: not FORMAT_BY_SUFFIX */
    const char *section;          /* of the host object */
    bool is_offload;              /* the inputs become offload binaries, else a fatbin */
    enum hostobj_machine machine; /* of the host object */
    struct pack_request pack;
    struct options_input next; /* for inputs still to come */
    struct options_input *inputs;
    size_t input_count, input_capacity;
};

/* Reads the command line; usage errors are reported. */
enum options_action options_read(struct options *options, int argc, char **argv);

/* Writes the help, made from the option table. */
void options_help(FILE *out);

void options_free(struct options *options);
