/* fuzz_options.c: a command line and two response files, read as minilink reads them.
 *
 * The first two parts are what the files /proc/self/fd/98 and /proc/self/fd/99 hold; the lines of
 * the rest are the words of the command line, which may name them (@/proc/self/fd/98,
 * -optf=/proc/self/fd/99). */
#include <sys/mman.h>
#include <unistd.h>

#include "../cmd/minilink/program.h"
#include "fuzz.h"

#define MOST_WORDS 64

/* Makes `number` a descriptor of a file in memory that holds `text`. */
static void fill_file(int number, struct bytes text)
{
    int fd = memfd_create("response", MFD_CLOEXEC);

    if (fd < 0 || dup2(fd, number) != number ||
        write(number, text.size ? (const void *)text.data : "", text.size) != (ssize_t)text.size)
        abort();
    close(fd);
}

/* A command line that is wrong has an error; one that is right can be linked. */
static void check(const struct options *options, enum options_action action, uint64_t errors)
{
    if ((action == OPTIONS_WRONG) != (errors > 0))
        abort();
    if (action != OPTIONS_LINK)
        return;
    if (options->link.operand_count == 0 || (!options->link.output && !options->link.dry_run))
        abort();
    for (size_t i = 0; i < options->link.operand_count; i++)
        if (strlen(options->link.operands[i].name) > 64u << 20)
            abort();
    for (const char *const *word = options->link.assembler_options; *word; word++)
        if (**word == '\0')
            abort();
}

static void fuzz(struct bytes rest)
{
    char *words[MOST_WORDS + 2] = {(char[]){"minilink"}};
    struct options options = {0};
    int count = 1;
    enum options_action action;
    struct text line;

    fill_file(98, fuzz_part(&rest));
    fill_file(99, fuzz_part(&rest));
    while (count <= MOST_WORDS && fuzz_line(&rest, &line))
        words[count++] = fuzz_string((struct bytes){(const uint8_t *)line.data, line.size});
    options_begin(&options);
    action = arguments_read(&options, &(struct arguments){count, words}) ? options_end(&options)
                                                                         : OPTIONS_WRONG;
    check(&options, action, fuzz_errors());
    options_free(&options);
}
