/* main.c: command line -> inputs -> container -> file. */
#include <stdio.h>

#include "diag/diag.h"
#include "link/link.h"
#include "os/cleanup.h"
#include "os/file.h"
#include "output/output.h"
#include "minifat.h"

struct command {
    int argc;
    char **argv;
    struct options options;
    struct inputs inputs;
    struct pack_parts parts[2]; /* without and with .nv.compat */
    struct buffer container;
    struct buffer object;
    enum exit_status status;
};

static bool open_inputs(struct command *command)
{
    const struct options *options = &command->options;
    bool ok = true;

    for (size_t i = 0; i < options->input_count; i++)
        ok &= inputs_open(&command->inputs,
                          &(struct input_operand){.name = options->inputs[i].path}, 1, NULL);
    return ok;
}

/* Inspects all inputs, so that all errors are reported. */
static bool inspect_inputs(struct command *command)
{
    struct options *options = &command->options;
    bool ok = true;

    for (size_t i = 0; i < options->input_count; i++)
        ok &= inspect_file(&command->inputs.files[i], &options->inputs[i].request,
                           &options->inputs[i].image);
    return ok;
}

/* Packs cubins together under --concat. One that is the only one of its form stays an entry, as
 * fatbinary 13.5 does it; the others are behind all entries. */
static bool pack_entries(struct command *command)
{
    const struct options *options = &command->options;
    const struct pack_request *request = &options->pack;
    unsigned counts[2] = {0};
    bool ok = true;

    pack_begin(&command->container);
    for (size_t i = 0; i < options->input_count; i++) {
        const struct inspected *image = &options->inputs[i].image;

        counts[image->compat.size > 0] += image->kind == FATBIN_ELF;
    }
    for (size_t i = 0; i < options->input_count; i++) {
        const struct options_input *input = &options->inputs[i];
        const struct inspected *image = &input->image;
        bool has_compat = image->compat.size > 0;

        ok &= request->concatenates && image->kind == FATBIN_ELF && counts[has_compat] > 1
                  ? pack_part(&command->parts[has_compat], image, request, input->path)
                  : pack_entry(&command->container, image, input->options, request, input->path);
    }
    for (size_t i = 0; i < 2; i++)
        if (command->parts[i].count)
            ok &= pack_concatenated(&command->container, &command->parts[i], request);
    pack_end(&command->container);
    return ok;
}

static bool pack_binaries(struct command *command)
{
    const struct options *options = &command->options;
    bool ok = true;

    for (size_t i = 0; i < options->input_count; i++)
        ok &= pack_offload(&command->container, &options->inputs[i].image,
                           command->inputs.files[i].data, options->inputs[i].path);
    return ok;
}

static void pack_images(struct command *command)
{
    const struct options *options = &command->options;
    struct buffer *result = &command->container;

    command->status = EXIT_STATUS_ERROR;
    if (!open_inputs(command) || !inspect_inputs(command) ||
        !(options->is_offload ? pack_binaries : pack_entries)(command))
        return;
    command->status = EXIT_STATUS_ENVIRONMENT;
    if (options->format == FORMAT_OBJECT) {
        hostobj_build(&command->object, buffer_bytes(&command->container), options->machine,
                      options->section, options->inputs[0].path);
        result = &command->object;
    }
    if (output_write_file(options->output, buffer_bytes(result)))
        command->status = EXIT_STATUS_OK;
}

static enum link_code run_minifat(void *argument)
{
    struct command *command = argument;
    enum options_action action = options_read(&command->options, command->argc, command->argv);

    if (action == OPTIONS_PACK)
        pack_images(command);
    else if (action == OPTIONS_HELP)
        options_help(stdout);
    else if (action == OPTIONS_VERSION)
        puts("minifat " MINILINK_VERSION);
    if (action == OPTIONS_HELP || action == OPTIONS_VERSION)
        command->status = std_streams_flush() ? EXIT_STATUS_OK : EXIT_STATUS_ENVIRONMENT;
    return LINK_OK;
}

static void free_command(struct command *command)
{
    for (size_t i = 0; i < 2; i++) {
        buffer_free(&command->parts[i].records);
        buffer_free(&command->parts[i].payload);
    }
    buffer_free(&command->object);
    buffer_free(&command->container);
    inputs_close(&command->inputs);
    options_free(&command->options);
}

int main(int argc, char **argv)
{
    struct command command = {.argc = argc, .argv = argv, .status = EXIT_STATUS_USAGE};

    if (!std_streams_open())
        return EXIT_STATUS_ENVIRONMENT;
    cleanup_prepare("minifat", leftover_remove_all);
    diag_state_get()->program = "minifat";
    if (context_run(run_minifat, &command) == LINK_NO_MEMORY) {
        diag_no_memory();
        command.status = EXIT_STATUS_ENVIRONMENT;
    }
    free_command(&command);
    cleanup_expected();
    return (int)command.status;
}
