/* inputs.c: inputs, which are copied and checked when they are added. */

#include "distribute/files.h"
#include "library/handle.h"

/* Nothing that can be linked is larger, and sizes may be added to it. */
#define LARGEST_INPUT ((size_t)1 << 40)

/* An input that is added, or the name of a library or a folder of them. */
struct addition {
    struct minilink *link;
    enum minilink_input input;
    const char *name;  /* or NULL */
    struct bytes data; /* or: */
    const char *path;  /* of the file it is in */
};

static const struct {
    enum file_kind kind;
    const char *what;
} inputs[] = {
    [MINILINK_INPUT_ANY] = {FILE_UNKNOWN, "device code"},
    [MINILINK_INPUT_CUBIN] = {FILE_CUBIN, "a cubin"},
    [MINILINK_INPUT_PTX] = {FILE_PTX, "PTX text"},
    [MINILINK_INPUT_LTOIR] = {FILE_LTOIR, "LTO-IR"},
    [MINILINK_INPUT_FATBIN] = {FILE_FATBIN, "a fatbin"},
    [MINILINK_INPUT_OBJECT] = {FILE_HOST_OBJECT, "a host object"},
    [MINILINK_INPUT_ARCHIVE] = {FILE_ARCHIVE, "an archive"},
};

static bool is_what_it_should_be(const char *name, enum file_kind kind, enum minilink_input input)
{
    bool is_right = input == MINILINK_INPUT_ANY ? kind != FILE_EMPTY && kind < FILE_TILE
                                                : kind == inputs[input].kind;

    if (!is_right)
        diag_fatal("'%s' is not %s, but: %s", name, inputs[input].what, file_kind_name(kind));
    return is_right;
}

static const char *name_of_input(const struct addition *addition)
{
    struct minilink *link = addition->link;

    if (addition->name)
        return arena_string(&link->arena, text_of(addition->name));
    return arena_printf(&link->arena, "input %zu", link->input_count + 1);
}

static void take_input_data(struct minilink *link, const struct input_operand *operand)
{
    struct options *options = &link->options;

    options_add_operand(options, operand->name, operand->is_library);
    options->link.operands[options->link.operand_count - 1] = *operand;
    link->input_count++;
}

static enum link_code add_entered(void *argument)
{
    const struct addition *addition = argument;
    struct minilink *link = addition->link;
    struct bytes data = addition->data;
    struct input_operand operand = {.name = name_of_input(addition), .is_memory = true};
    enum file_kind kind = file_classify(data);

    if (kind == FILE_PTX || addition->input == MINILINK_INPUT_PTX) {
        while (data.size && data.data[data.size - 1] == '\0')
            data.size--;
        kind = file_classify(data);
    }
    operand.data = data;
    if (!is_what_it_should_be(operand.name, kind, addition->input))
        return (enum link_code)MINILINK_WRONG_INPUT;
    if (kind == FILE_ARCHIVE && archive_is_thin(operand.data)) {
        if (!addition->path) {
            diag_fatal("'%s' is a thin archive, whose members are files", operand.name);
            return (enum link_code)MINILINK_WRONG_INPUT;
        }
        operand = (struct input_operand){.name = operand.name};
    } else {
        operand.data.data = arena_copy(&link->arena, data.data, data.size, 1);
    }
    take_input_data(link, &operand);
    return LINK_OK;
}

/* Whether the file did not change while it was read. The caller may change it afterwards. */
static bool is_one_version(const struct file_contents *contents, const char *path)
{
    struct watch watch = {0};

    CONTEXT_DEFER(watch_free, &watch);
    files_watch(contents, &watch, path);
    return watch_check(&watch);
}

static enum link_code add_file_input(void *argument)
{
    struct addition *addition = argument;
    struct file_contents contents;

    if (!files_read(&contents, addition->path, LARGEST_INPUT)) {
        diag_fatal("Could not open input file '%s': %s", addition->path, files_why());
        return LINK_ENVIRONMENT;
    }
    CONTEXT_DEFER(files_cleanup, &contents);
    addition->data = (struct bytes){(const uint8_t *)contents.data, contents.size};
    return is_one_version(&contents, addition->path) ? add_entered(addition) : LINK_ENVIRONMENT;
}

static bool is_open(const struct minilink *link)
{
    return link && !link->is_complete && !link->is_wrong;
}

static int add(struct addition addition, enum link_code (*function)(void *addition))
{
    return is_open(addition.link) && (size_t)addition.input < sizeof inputs / sizeof *inputs
               ? handle_call(addition.link, function, &addition)
               : MINILINK_USAGE;
}

int minilink_add_data(struct minilink *link, enum minilink_input input, const void *data,
                      size_t size, const char *name)
{
    if (!data || size > LARGEST_INPUT)
        return MINILINK_USAGE;
    return add((struct addition){link, input, name, {data, size}, NULL}, add_entered);
}

int minilink_add_file(struct minilink *link, enum minilink_input input, const char *path)
{
    if (!path)
        return MINILINK_USAGE;
    return add((struct addition){link, input, path, {NULL, 0}, path}, add_file_input);
}

static enum link_code add_library_input(void *argument)
{
    const struct addition *addition = argument;

    take_input_data(addition->link,
                    &(struct input_operand){.name = name_of_input(addition), .is_library = true});
    return LINK_OK;
}

static enum link_code add_path_input(void *argument)
{
    const struct addition *addition = argument;

    options_add_library_paths(&addition->link->options, name_of_input(addition), "");
    return LINK_OK;
}

int minilink_add_library(struct minilink *link, const char *name)
{
    return name ? add((struct addition){.link = link, .name = name}, add_library_input)
                : MINILINK_USAGE;
}

int minilink_add_library_path(struct minilink *link, const char *path)
{
    return path ? add((struct addition){.link = link, .name = path}, add_path_input)
                : MINILINK_USAGE;
}

int minilink_set_assembler(struct minilink *link, const struct minilink_assembler *assembler)
{
    if (!is_open(link) || !assembler || assembler->abi != MINILINK_ASSEMBLER_ABI ||
        !assembler->name || !assembler->version || !assembler->assemble)
        return MINILINK_USAGE;
    link->assembler = *assembler;
    return MINILINK_OK;
}
