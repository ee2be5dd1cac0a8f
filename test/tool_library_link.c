/* tool_library_link: one link by the library, for scripts to compare with the command's.
 *
 *     tool_library_link files|data OUT WORD...     3> REPORT
 *
 * Writes what there is of OUT (the cubin), OUT.ptx, OUT.errors, OUT.infos and OUT.kernels; nothing
 * when OUT is "-". The program uses the locale of its environment. The status is the result; 255
 * when the library breaks a promise, which the report tells. */
#include "library/links.h"
#include "library/process.h"

static void write_log(const char *out, const char *what, const char *text, size_t size)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s.%s", out, what);
    check(text && strlen(text) == size, "the %s' size is not their length", what);
    check(links_write(path, text ? text : "", text ? size : 0), "cannot write %s", path);
}

static void write_all(const struct minilink *link, const char *out)
{
    char path[PATH_MAX];
    size_t size = 1;
    const void *data = minilink_cubin(link, &size);
    const char *text;
    FILE *file;

    check(!data == !size, "a cubin without a size");
    if (data)
        check(links_write(out, data, size), "cannot write %s", out);
    size = 1;
    text = minilink_ptx(link, &size);
    check(!text == !size, "PTX without a size");
    if (text)
        write_log(out, "ptx", text, size);
    check(!data || !text, "a cubin and PTX");
    text = minilink_error_log(link, &size);
    write_log(out, "errors", text, size);
    text = minilink_info_log(link, &size);
    write_log(out, "infos", text, size);
    snprintf(path, sizeof path, "%s.kernels", out);
    file = fopen(path, "w");
    if (file) {
        links_print_kernels(link, file);
        fclose(file);
    }
}

int main(int argc, char **argv)
{
    static struct links_case one;
    struct minilink *link = NULL;
    int code;

    tally_begin();
    if (argc < 3)
        return 2;
    links_add_words(&one, argv, 3);
    setlocale(LC_ALL, "");
    process_begin();
    code = links_run(&link, &one, links_way_of(argv[1]));
    if (strcmp(argv[2], "-") != 0)
        write_all(link, argv[2]);
    minilink_destroy(&link);
    check(!link, "a destroyed link is not NULL");
    process_check("the link");
    links_free_case(&one);
    return tally_end() ? 255 : code;
}
