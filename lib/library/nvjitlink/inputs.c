/* inputs.c: adds inputs: looks at what they are and have, assembles PTX, and passes them on.
 *
 * Wrong inputs give the results that were measured on NVIDIA's library 13.0: a type that is not the
 * input's, code for other targets only, LTO-IR without -lto. Inputs that cannot be linked but do no
 * harm (host objects without device code, cubins that are linked already) are silently ignored.
 *
 * PTX is assembled when it is added, as in NVIDIA's library, so that its errors are reported then,
 * and no input changes another one's code. A minilink link with -r and this one input assembles it.
 * The assembler's own cubin is used, not the link's result, since merging may leave things out
 * (Mercury sections, beside texture references). */

#include "base/text.h"
#include "distribute/files.h"
#include "input/fatbin.h"
#include "input/file.h"
#include "input/rawcode.h"
#include "library/handle.h"
#include "library/nvjitlink/internal.h"

#define FATBIN_VERSION 1
#define LTOIR_TARGET   0x1au /* of its header: ten times the number of its target (measured) */

nvJitLinkInputType contents_type(struct bytes data)
{
    static const nvJitLinkInputType types[] = {
        [FILE_CUBIN] = NVJITLINK_INPUT_CUBIN,          [FILE_HOST_OBJECT] = NVJITLINK_INPUT_OBJECT,
        [FILE_SHARED_OBJECT] = NVJITLINK_INPUT_OBJECT, [FILE_ARCHIVE] = NVJITLINK_INPUT_LIBRARY,
        [FILE_LTOIR] = NVJITLINK_INPUT_LTOIR,          [FILE_FATBIN] = NVJITLINK_INPUT_FATBIN,
    };
    enum file_kind kind = file_classify(data);

    if (kind == FILE_FATBIN &&
        (data.size < FATBIN_HEADER_SIZE || little_u16(data.data + 4) != FATBIN_VERSION))
        return NVJITLINK_INPUT_NONE;
    if (kind < sizeof types / sizeof *types && types[kind])
        return types[kind];
    return memmem(data.data, strnlen((const char *)data.data, data.size), ".version",
                  strlen(".version"))
               ? NVJITLINK_INPUT_PTX
               : NVJITLINK_INPUT_NONE;
}

const char *contents_type_name(nvJitLinkInputType type)
{
    static const char *const names[] = {"nothing known",  "a cubin",      "PTX",
                                        "LTO-IR",         "a fatbin",     "a host object",
                                        "a host library", "an index file"};

    return (size_t)type < sizeof names / sizeof *names ? names[type] : "device code";
}

static bool is_for(const struct fatbin_entry *entry, const struct contents_target *target)
{
    if (runs_on_is_unknown(entry->arch, target->toolkit))
        return false;
    if (entry->kind != FATBIN_ELF)
        return runs_on_ptx(target->arch, entry->arch, target->toolkit);
    return runs_on_sass(target->arch, entry->arch, target->toolkit) &&
           !runs_on_library_leaves(target->arch, entry->arch, true, target->toolkit);
}

/* Looks at the entries of the fatbin at the beginning of `data`, as far as they are intact. */
static void look_at_fatbin(struct contents *contents, struct bytes data,
                           const struct contents_target *target)
{
    enum fatbin_result result = FATBIN_DAMAGED;
    struct fatbin_entry entry;
    struct fatbin fatbin;
    size_t size;

    contents->fatbin_count++;
    if (fatbin_open(&fatbin, "", data, &size))
        while ((result = fatbin_next(&fatbin, &entry)) == FATBIN_ENTRY) {
            bool fits = is_for(&entry, target);

            contents->has_ptx |= fits && entry.kind == FATBIN_PTX;
            contents->has_cubin |= fits && entry.kind == FATBIN_ELF;
            contents->has_ltoir |= fits && entry.kind == FATBIN_NVVM;
        }
    contents->is_cut |= result == FATBIN_DAMAGED;
}

struct contents contents_look(struct bytes data, const struct contents_target *target)
{
    static const uint32_t magic = FATBIN_MAGIC;
    struct contents contents = {0};
    const uint8_t *end = data.data + data.size, *found;

    DIAG_SILENCE();
    while ((found = memmem(data.data, data.size, &magic, sizeof magic)) &&
           (size_t)(end - found) >= FATBIN_HEADER_SIZE) {
        look_at_fatbin(&contents, (struct bytes){found, (size_t)(end - found)}, target);
        found += sizeof magic;
        data = (struct bytes){found, (size_t)(end - found)};
    }
    return contents;
}

bool contents_takes_cubin(struct bytes data, const struct contents_target *target)
{
    struct arch code;

    return !rawcode_cubin_arch(data, &code) ||
           !runs_on_library_leaves(target->arch, code, false, target->toolkit);
}

unsigned contents_ltoir_target(struct bytes data)
{
    unsigned target =
        data.size >= LTOIR_TARGET + sizeof(uint16_t) ? little_u16(data.data + LTOIR_TARGET) : 0;

    return target % 10 == 0 ? target / 10 : 0;
}

#define LARGEST_FILE ((size_t)1 << 40)

nvJitLinkResult link_fail(struct nvJitLink *link, nvJitLinkResult result, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    buffer_vprintf(&link->errors, format, arguments);
    va_end(arguments);
    buffer_char(&link->errors, '\n');
    return result;
}

static void take_lines(struct buffer *log, const char *lines, const char *but)
{
    struct text rest = text_of(lines), line;

    while (text_scan_line(&rest, &line)) {
        if (but && memmem(line.data, line.size, but, strlen(but)))
            continue;
        text_skip(&line, TEXT("minilink "));
        buffer_printf(log, "%.*s\n", TEXT_ARG(line));
    }
}

void link_take_errors(struct nvJitLink *link, const struct minilink *made)
{
    take_lines(&link->errors, minilink_error_log(made, NULL), NULL);
}

void link_take_infos(struct nvJitLink *link, const struct minilink *made, const char *but)
{
    take_lines(&link->infos, minilink_info_log(made, NULL), but);
}

int link_begin(struct nvJitLink *link, struct minilink **made, const struct settings *settings,
               enum purpose purpose)
{
    struct word_list words = {.arena = &link->arena};
    int code;

    minilink_destroy(made);
    settings_words(settings, purpose, &words);
    code = minilink_create(made, words.list, words.count);
    if (code != MINILINK_OK) {
        link_take_errors(link, *made);
        minilink_destroy(made);
    }
    return code;
}

nvJitLinkResult link_check_open(struct nvJitLink *link)
{
    return link->is_complete
               ? link_fail(link, NVJITLINK_ERROR_INTERNAL, "the link is complete already")
               : NVJITLINK_SUCCESS;
}

static nvJitLinkResult wrong_type(struct nvJitLink *link, nvJitLinkInputType type,
                                  nvJitLinkInputType found, const char *name)
{
    if (type == NVJITLINK_INPUT_ANY)
        return link_fail(link, NVJITLINK_ERROR_UNRECOGNIZED_INPUT,
                         "'%s' is nothing that can be linked", name);
    if (type <= NVJITLINK_INPUT_NONE || type > NVJITLINK_INPUT_INDEX)
        return link_fail(link, NVJITLINK_ERROR_INCORRECT_INPUT_TYPE,
                         "'%s': there is no input type %d", name, (int)type);
    return link_fail(link, NVJITLINK_ERROR_INCORRECT_INPUT_TYPE, "'%s' is %s, not %s", name,
                     contents_type_name(found), contents_type_name(type));
}

static nvJitLinkResult needs_lto(struct nvJitLink *link, const char *name)
{
    return link_fail(link, NVJITLINK_ERROR_LTO_NOT_ENABLED,
                     "'%s' is LTO-IR, which is linked with -lto only", name);
}

int input_add_to(struct minilink *made, const struct input *input)
{
    return input->data.data ? minilink_add_data(made, input->type, input->data.data,
                                                input->data.size, input->name)
                            : minilink_add_file(made, input->type, input->name);
}

/* The result for a code of minilink; `wrong` if the input, or an option for it, is. */
static nvJitLinkResult result_for(int code, nvJitLinkResult wrong)
{
    if (code == MINILINK_OK)
        return NVJITLINK_SUCCESS;
    return code == MINILINK_WRONG_INPUT || code == MINILINK_FAILED || code == MINILINK_USAGE ||
                   code == MINILINK_NOT_RELOCATABLE
               ? wrong
               : NVJITLINK_ERROR_INTERNAL;
}

static nvJitLinkResult hand_on(struct nvJitLink *link, const struct input *input)
{
    int code = input_add_to(link->link, input);

    link->has_input = true;
    if (code != MINILINK_OK)
        link_take_errors(link, link->link);
    if (code == MINILINK_OK && link->open)
        code = input_add_to(link->open, input);
    return result_for(code, NVJITLINK_ERROR_INVALID_INPUT);
}

/* Measured: code from LTO-IR comes after the code of all other inputs. */
static nvJitLinkResult let_wait(struct nvJitLink *link, const struct input *input)
{
    struct arena *arena = &link->arena;

    link->has_input = true;
    ARENA_PUSH(arena, link->waiting, link->waiting_count, link->waiting_capacity) =
        (struct input){input->type,
                       {arena_copy(arena, input->data.data, input->data.size, 1), input->data.size},
                       arena_string(arena, text_of(input->name))};
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult input_hand_on_waiting(struct nvJitLink *link)
{
    nvJitLinkResult result = NVJITLINK_SUCCESS;

    for (size_t i = 0; i < link->waiting_count && result == NVJITLINK_SUCCESS; i++)
        result = hand_on(link, &link->waiting[i]);
    return result;
}

/* The real library passes on each -arch, and ptxas takes the last one. */
static void tell_of_input(struct nvJitLink *link, const struct minilink *made,
                          const struct settings *settings)
{
    for (unsigned i = 0; i < settings->target_changes; i++)
        buffer_printf(&link->infos,
                      "warning : incompatible redefinition for option 'gpu-name', the "
                      "last value of this option was used\n");
    link_take_errors(link, made);
    link_take_infos(link, made, "Mercury sections of "); /* of merging, not of the assembler */
}

/* Adds the assembler's cubin to the link. An input that needs no assembler is added as it is. */
static nvJitLinkResult take_finished_cubin(struct nvJitLink *link, const struct minilink *made,
                                           const struct input *input)
{
    const struct buffer *cubin = &made->product.chunk;

    if (cubin->data)
        return hand_on(link,
                       &(struct input){MINILINK_INPUT_CUBIN, buffer_bytes(cubin), input->name});
    return input->type == MINILINK_INPUT_PTX ? NVJITLINK_ERROR_INTERNAL : hand_on(link, input);
}

/* Assembles PTX, or that of a container with one fatbin, to a relocatable cubin, and adds that. A
 * container whose PTX does not take part is added as it is. */
static nvJitLinkResult assemble_ptx(struct nvJitLink *link, const struct settings *settings,
                                    const struct input *input)
{
    struct minilink *made;
    nvJitLinkResult result;
    int code;

    if (settings->kind != TARGET_REAL)
        return link_fail(link, NVJITLINK_ERROR_PTX_COMPILE,
                         "'%s': there is no assembler for a virtual architecture", input->name);
    code = link_begin(link, &link->trial, settings, FOR_INPUT);
    made = link->trial;
    if (code == MINILINK_OK) {
        made->product.wants_chunk = true;
        code = input_add_to(made, input) ?: minilink_complete(made);
    }
    if (code != MINILINK_OK || input->type == MINILINK_INPUT_PTX || made->product.chunk.data)
        tell_of_input(link, made, settings);
    result = result_for(code, NVJITLINK_ERROR_PTX_COMPILE);
    if (result == NVJITLINK_ERROR_PTX_COMPILE)
        link_fail(link, result, "'%s': the PTX cannot be assembled", input->name);
    else if (result == NVJITLINK_SUCCESS)
        result = take_finished_cubin(link, made, input);
    return result;
}

/* Uses no option but the target: others may be wrong, which only inputs report. */
nvJitLinkResult input_add_nothing(struct nvJitLink *link)
{
    static const struct text empty = TEXT(".version 6.3\n.target sm_75\n.address_size 64\n");
    const struct settings settings = {
        .arch = link->settings.arch, .level = -1, .ptxas = link->settings.ptxas};

    return assemble_ptx(link, &settings,
                        &(struct input){MINILINK_INPUT_PTX, text_bytes(empty), "empty"});
}

/* Reports a cubin that cannot be linked for the target, by a link with --dry-run. */
static nvJitLinkResult check_cubin(struct nvJitLink *link, const struct input *input)
{
    int code = link_begin(link, &link->trial, &link->settings, FOR_CHECK)
               ?: input_add_to(link->trial, input)
               ?: minilink_complete(link->trial);

    link_take_errors(link, link->trial);
    return result_for(code, NVJITLINK_ERROR_INVALID_INPUT);
}

static nvJitLinkResult add_cubin(struct nvJitLink *link, const struct input *input)
{
    nvJitLinkResult result;

    if (!contents_takes_cubin(input->data, &link->target))
        return link_fail(link, NVJITLINK_ERROR_INVALID_INPUT,
                         "'%s' arch does not match target 'sm_%u'", input->name,
                         link->settings.arch.sm);
    result = check_cubin(link, input);
    link->has_other_code = true;
    return result == NVJITLINK_SUCCESS ? hand_on(link, input) : result;
}

static nvJitLinkResult add_container(struct nvJitLink *link, const struct input *input)
{
    const struct contents contents = contents_look(input->data, &link->target);
    bool has_code = contents.has_ptx || contents.has_cubin;

    if (input->type == MINILINK_INPUT_FATBIN && contents.is_cut)
        return link_fail(link, NVJITLINK_ERROR_INVALID_INPUT, "'%s' is a damaged fatbin",
                         input->name);
    if (contents.has_ltoir && !has_code && !link->settings.is_lto)
        return needs_lto(link, input->name);
    if (contents.fatbin_count && !contents.has_ltoir && !has_code)
        return link_fail(link, NVJITLINK_ERROR_INVALID_INPUT, "'%s' has no code for sm_%u",
                         input->name, link->settings.arch.sm);
    if (input->type == MINILINK_INPUT_OBJECT && !contents.fatbin_count)
        return NVJITLINK_SUCCESS;
    link->has_ltoir |= contents.has_ltoir;
    link->has_other_code |= !contents.has_ltoir;
    if (contents.has_ltoir && link->settings.is_lto)
        return let_wait(link, input);
    if (contents.fatbin_count == 1 && contents.has_ptx && !contents.has_cubin)
        return assemble_ptx(link, &link->settings, input);
    return hand_on(link, input);
}

static nvJitLinkResult add_ltoir(struct nvJitLink *link, const struct input *input)
{
    unsigned made = contents_ltoir_target(input->data);

    if (!link->settings.is_lto)
        return needs_lto(link, input->name);
    if (made > link->settings.arch.sm)
        return link_fail(link, NVJITLINK_ERROR_ARCH_MISMATCH,
                         "'%s': %u in LTOIR arch newer than target arch", input->name, made);
    link->has_ltoir = true;
    return let_wait(link, input);
}

static nvJitLinkResult add_to_link(struct nvJitLink *link, nvJitLinkInputType type,
                                   struct bytes data, const char *name);

struct library {
    struct arena *arena;
    const struct input *archive;
    struct input *list;
    size_t count, capacity;
};

static enum link_code list_linked_members(void *argument)
{
    struct library *library = argument;
    struct archive archive;
    struct text name;
    struct bytes data;

    archive_open(&archive, library->archive->name, library->archive->data);
    while (archive_next(&archive, &name, &data)) {
        nvJitLinkInputType type = contents_type(data);

        if (type != NVJITLINK_INPUT_NONE && type != NVJITLINK_INPUT_LIBRARY)
            ARENA_PUSH(library->arena, library->list, library->count, library->capacity) =
                (struct input){.data = data,
                               .name = archive_object_name(&archive, name, library->arena)};
    }
    return archive.is_damaged ? LINK_FAILED : LINK_OK;
}

/* Adds each member like an input. Those before one that is wrong, or before damage, stay (measured
 * on 12.0 to 13.5). */
static nvJitLinkResult add_library_to_link(struct nvJitLink *link, const struct input *input)
{
    struct library library = {.arena = &link->arena, .archive = input};
    nvJitLinkResult result = NVJITLINK_SUCCESS;
    int code = link_begin(link, &link->trial, &link->settings, FOR_NOTHING)
                   ?: handle_call(link->trial, list_linked_members, &library);

    link_take_errors(link, link->trial);
    for (size_t i = 0; i < library.count && result == NVJITLINK_SUCCESS; i++)
        result = add_to_link(link, NVJITLINK_INPUT_ANY, library.list[i].data, library.list[i].name);
    return result ?: code == MINILINK_OK ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_INTERNAL;
}

static nvJitLinkResult add_to_link(struct nvJitLink *link, nvJitLinkInputType type,
                                   struct bytes data, const char *name)
{
    nvJitLinkInputType found = contents_type(data);
    const struct input input = {(enum minilink_input)found, data, name}; /* the same numbers */
    bool fits = type == found || (type == NVJITLINK_INPUT_ANY && found != NVJITLINK_INPUT_NONE) ||
                (type == NVJITLINK_INPUT_OBJECT && found == NVJITLINK_INPUT_CUBIN);

    if (!fits || found == NVJITLINK_INPUT_NONE)
        return wrong_type(link, type, found, name);
    if (link_check_open(link) != NVJITLINK_SUCCESS)
        return NVJITLINK_ERROR_INTERNAL;
    switch (found) {
    case NVJITLINK_INPUT_CUBIN:
        return add_cubin(link, &input);
    case NVJITLINK_INPUT_PTX:
        link->has_other_code = true;
        return assemble_ptx(link, &link->settings, &input);
    case NVJITLINK_INPUT_LTOIR:
        return add_ltoir(link, &input);
    case NVJITLINK_INPUT_LIBRARY:
        return add_library_to_link(link, &input);
    default:
        return add_container(link, &input);
    }
}

nvJitLinkResult input_add(struct nvJitLink *link, nvJitLinkInputType type, struct bytes data,
                          const char *name)
{
    nvJitLinkResult result = add_to_link(link, type, data, name);

    link->input_count += result == NVJITLINK_SUCCESS;
    return result;
}

static nvJitLinkResult add_thin(struct nvJitLink *link, nvJitLinkInputType type, const char *path)
{
    if (type != NVJITLINK_INPUT_LIBRARY && type != NVJITLINK_INPUT_ANY)
        return wrong_type(link, type, NVJITLINK_INPUT_LIBRARY, path);
    if (link_check_open(link) != NVJITLINK_SUCCESS)
        return NVJITLINK_ERROR_INTERNAL;
    if (hand_on(link, &(struct input){MINILINK_INPUT_ARCHIVE, .name = path}) != NVJITLINK_SUCCESS)
        return NVJITLINK_ERROR_INVALID_INPUT;
    link->has_ltoir = true; /* perhaps: its members are not examined */
    link->input_count++;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult no_file(struct nvJitLink *link, const char *path, const char *why)
{
    return link_fail(link, NVJITLINK_ERROR_INVALID_INPUT, "could not read '%s': %s", path, why);
}

nvJitLinkResult input_add_file(struct nvJitLink *link, nvJitLinkInputType type, const char *path)
{
    struct file_contents contents;

    if (!files_read(&contents, path, LARGEST_FILE))
        return no_file(link, path, files_why());
    CONTEXT_DEFER(files_cleanup, &contents);
    /* A thin archive names files beside it: minilink reads it by its path. */
    if (contents.size == 0)
        return no_file(link, path, "it is empty");
    if (archive_is_thin(files_bytes(&contents)))
        return add_thin(link, type, path);
    return input_add(link, type, files_bytes(&contents), path);
}
