/* fuzz_used.c: any bytes as lists of used kernels in host objects, and kernels asked for.
 *
 * The parts are: -kernels-used, the kernels asked for (a line each), then a file each, which with
 * an odd first byte is the list of an object, else a whole file. Lists of objects are compared with
 * a match that tries everything. */
#include "input/used.h"
#include "unit/host_object.h"
#include "fuzz.h"

#define MOST_FILES   4
#define MOST_NAMES   64
#define MOST_CHOICES 2

/* Whether the pattern, in which each `*` stands for any characters, is the whole name. */
static bool matches(struct text pattern, struct text name)
{
    size_t p = 0, n = 0, star = pattern.size, mark = 0;

    while (n < name.size) {
        if (p < pattern.size && pattern.data[p] == '*') {
            star = p++;
            mark = n;
        } else if (p < pattern.size && pattern.data[p] == name.data[n]) {
            p++;
            n++;
        } else if (star < pattern.size) {
            p = star + 1;
            n = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.size && pattern.data[p] == '*')
        p++;
    return p == pattern.size;
}

/* Whether some string of the lists matches. */
static bool is_listed(const struct bytes *lists, size_t count, struct text name)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t at = 0, size; at < lists[i].size; at += size + 1) {
            const char *string = (const char *)lists[i].data + at;

            size = strnlen(string, lists[i].size - at);
            if (size > 0 && matches((struct text){string, size}, name))
                return true;
        }
    }
    return false;
}

static struct input_file file_of(struct bytes part, bool is_list)
{
    struct object_section section = {".nvHRKE", part};
    struct input_file file = {.path = "a.o"};
    struct buffer object = {0};

    if (is_list)
        object_make(&object, &section, 1);
    if (is_list)
        part.data = fuzz_keep(buffer_take(&object, &part.size));
    file.data = part;
    file.kind = file_classify(part);
    return file;
}

static void ask(const struct used_names *used, struct bytes names, const struct bytes *lists,
                size_t list_count)
{
    struct text name;

    for (size_t i = 0; i < MOST_NAMES && fuzz_line(&names, &name); i++) {
        bool found = used_has_kernel(used, name);

        used_has_variable(used, name);
        if (lists && used->is_filter && !used->is_selection &&
            found != is_listed(lists, list_count, name))
            abort();
    }
}

static void fuzz(struct bytes rest)
{
    uint8_t choice = fuzz_byte(&rest);
    char *kernels = fuzz_string(fuzz_part(&rest));
    const char *const options[] = {kernels, NULL};
    struct bytes names = fuzz_part(&rest), lists[MOST_FILES], part;
    struct text entries[MOST_CHOICES] = {TEXT("k1"), TEXT("k2")};
    struct used_request request = {.kernels = choice & 2 ? options : NULL,
                                   .entries = entries,
                                   .entry_count = choice & 4 ? MOST_CHOICES : 0,
                                   .ignore_host_info = choice & 8};
    struct input_file files[MOST_FILES];
    struct inputs inputs = {.files = files};
    struct used_names used = {0};
    bool is_list = choice & 1;

    while (inputs.count < MOST_FILES && rest.size) {
        part = fuzz_part(&rest);
        lists[inputs.count] = part;
        files[inputs.count++] = file_of(part, is_list);
    }
    if (used_collect(&used, &inputs, &request))
        ask(&used, names, is_list && !request.kernels ? lists : NULL, inputs.count);
    used_free(&used);
}
