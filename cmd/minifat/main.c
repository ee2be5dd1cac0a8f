/* main.c: command line -> inputs -> container -> file. */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/context.h"
#include "diag/diag.h"
#include "link/link.h"
#include "os/cleanup.h"
#include "output/output.h"
#include "output/std_streams.h"
#include "hostobj.h"
#include "options.h"

struct command {
    int argc;
    char **argv;
    struct options options;
    struct inputs inputs;
    struct buffer container;
    struct buffer object;
    enum exit_status status;
};

static bool open_inputs(struct command *command)
{
    const struct options *options = &command->options;
    struct arena arena = {0};
    struct input_operand *operands;

    CONTEXT_DEFER(arena_cleanup, &arena);
    operands = arena_zalloc(&arena, options->input_count, sizeof *operands);
    for (size_t i = 0; i < options->input_count; i++)
        operands[i].name = options->inputs[i].path;
    return inputs_open(&command->inputs, operands, options->input_count, NULL);
}

static void free_image(void *image)
{
    inspect_free(image);
}

/* Inspects all inputs, so that all errors are reported. */
static bool pack_inputs(struct command *command)
{
    const struct options *options = &command->options;
    bool ok = true;

    if (!options->is_offload)
        pack_begin(&command->container);
    for (size_t i = 0; i < options->input_count; i++) {
        const struct options_input *input = &options->inputs[i];
        struct image image = {0};

        CONTEXT_DEFER(free_image, &image);
        ok &= inspect_file(&command->inputs.files[i], &input->request, &image) &&
              (options->is_offload ? pack_offload(&command->container, &image,
                                                  command->inputs.files[i].data, input->path)
                                   : pack_entry(&command->container, &image, input->options,
                                                &options->pack, input->path));
    }
    if (!options->is_offload)
        pack_end(&command->container);
    return ok;
}

static void pack(struct command *command)
{
    const struct options *options = &command->options;
    struct buffer *result = &command->container;

    command->status = EXIT_STATUS_ERROR;
    if (!open_inputs(command) || !pack_inputs(command))
        return;
    command->status = EXIT_STATUS_ENVIRONMENT;
    if (options->format == FORMAT_OBJECT) {
        if (!hostobj_build(&command->object, buffer_bytes(&command->container), options->machine,
                           options->section, options->inputs[0].path))
            return;
        result = &command->object;
    }
    if (output_write_file(options->output, buffer_bytes(result)))
        command->status = EXIT_STATUS_OK;
}

static enum link_code run(void *argument)
{
    struct command *command = argument;
    enum options_action action = options_read(&command->options, command->argc, command->argv);

    if (action == OPTIONS_PACK)
        pack(command);
    else if (action == OPTIONS_HELP)
        options_help(stdout);
    else if (action == OPTIONS_VERSION)
        puts("minifat " MINILINK_VERSION);
    if (action == OPTIONS_HELP || action == OPTIONS_VERSION)
        command->status = std_streams_flush() ? EXIT_STATUS_OK : EXIT_STATUS_ENVIRONMENT;
    return LINK_OK;
}

int main(int argc, char **argv)
{
    struct command command = {.argc = argc, .argv = argv, .status = EXIT_STATUS_USAGE};

    if (!std_streams_open())
        return EXIT_STATUS_ENVIRONMENT;
    cleanup_prepare("minifat", output_remove_temporaries);
    diag_state_get()->program = "minifat";
    if (context_run(run, &command) == LINK_NO_MEMORY) {
        diag_no_memory();
        command.status = EXIT_STATUS_ENVIRONMENT;
    }
    buffer_free(&command.object);
    buffer_free(&command.container);
    inputs_close(&command.inputs);
    options_free(&command.options);
    context_shutdown();
    cleanup_expected();
    return (int)command.status;
}
