/* tool_library_answers: what each function answers, to what is right and to what is wrong.
 *
 *     tool_library_answers FIXTURES     3> REPORT
 *
 * Runs in a folder of its own. */
#include "library/answers.h"
#include "library/process.h"

static char fixtures[PATH_MAX];

static const char *fixture(const char *name)
{
    static char path[PATH_MAX + 256];

    snprintf(path, sizeof path, "%s/%s", fixtures, name);
    return path;
}

static void try_nulls(void)
{
    const struct minilink_assembler assembler = {.abi = MINILINK_ASSEMBLER_ABI};
    struct minilink *link = NULL;
    size_t size = 1;

    is("create without a place", minilink_create(NULL, NULL, 0), MINILINK_USAGE);
    is("add_data without a link", minilink_add_data(NULL, 0, "", 0, NULL), MINILINK_USAGE);
    is("add_file without a link", minilink_add_file(NULL, 0, "a"), MINILINK_USAGE);
    is("add_library without a link", minilink_add_library(NULL, "a"), MINILINK_USAGE);
    is("add_library_path without a link", minilink_add_library_path(NULL, "a"), MINILINK_USAGE);
    is("set_assembler without a link", minilink_set_assembler(NULL, &assembler), MINILINK_USAGE);
    is("complete without a link", minilink_complete(NULL), MINILINK_USAGE);
    minilink_cancel(NULL);
    has_no_result(NULL, "no link");
    check(!minilink_cubin(NULL, NULL) && !minilink_ptx(NULL, NULL), "results without a size");
    check(strcmp(minilink_error_log(NULL, &size), "") == 0 && !size, "errors of no link");
    size = 1;
    check(strcmp(minilink_info_log(NULL, &size), "") == 0 && !size, "infos of no link");
    minilink_destroy(NULL);
    minilink_destroy(&link);

    link = begin(NULL);
    is("no data", minilink_add_data(link, MINILINK_INPUT_PTX, NULL, 1, "x"), MINILINK_USAGE);
    is("no path", minilink_add_file(link, MINILINK_INPUT_ANY, NULL), MINILINK_USAGE);
    is("no library", minilink_add_library(link, NULL), MINILINK_USAGE);
    is("no folder", minilink_add_library_path(link, NULL), MINILINK_USAGE);
    is("no assembler", minilink_set_assembler(link, NULL), MINILINK_USAGE);
    is("no such kind", minilink_add_data(link, (enum minilink_input)7, KERNEL_PTX, 10, "x"),
       MINILINK_USAGE);
    is("nor this", minilink_add_file(link, (enum minilink_input) - 1, "x"), MINILINK_USAGE);
    is("the link is as before", add_text(link, KERNEL_PTX, "k"), MINILINK_OK);
    complete(&link, "and links", MINILINK_OK, NULL);
    check(!link, "destroy sets it to NULL");
    minilink_destroy(&link);
}

/* Each NUL that is cut off a text must not cost a look at the text. */
static void try_long_end(void)
{
    const size_t half = (size_t)1 << 20;
    struct minilink *link = begin(NULL);
    char *text = calloc(2, half);

    check(text != NULL, "memory");
    memset(text, ' ', half);
    memcpy(text + half - sizeof KERNEL_PTX, KERNEL_PTX, sizeof KERNEL_PTX - 1);
    is("a text between blanks and NULs",
       minilink_add_data(link, MINILINK_INPUT_ANY, text, 2 * half, "long"), MINILINK_OK);
    complete(&link, "links", MINILINK_OK, NULL);
    free(text);
}

static void try_order(void)
{
    static const char *const only_verbose[] = {"-v"};
    struct minilink *link = begin(NULL);
    struct minilink_kernel kernel;
    size_t size;

    has_no_result(link, "before it is complete");
    check(*minilink_error_log(link, NULL) == 0 && *minilink_info_log(link, NULL) == 0,
          "logs of a new link");
    is("no inputs", minilink_complete(link), MINILINK_USAGE);
    check(*minilink_error_log(link, NULL), "no inputs: no message");
    is("complete again", minilink_complete(link), MINILINK_USAGE);
    has_no_result(link, "no inputs");
    minilink_destroy(&link);

    is("options and no options", minilink_create(&link, only_verbose, 0), MINILINK_OK);
    is("add", add_text(link, KERNEL_PTX, NULL), MINILINK_OK);
    is("complete", minilink_complete(link), MINILINK_OK);
    check(minilink_cubin(link, &size) && size > 64, "a cubin");
    check(memcmp(minilink_cubin(link, NULL), "\177ELF", 4) == 0, "is an ELF file");
    check((uintptr_t)minilink_cubin(link, NULL) % _Alignof(max_align_t) == 0, "is aligned");
    check(!minilink_ptx(link, &size) && !size, "no PTX");
    check(minilink_kernel_count(link) == 1, "one kernel");
    is("it", minilink_kernel(link, 0, &kernel, sizeof kernel), MINILINK_OK);
    check(strcmp(kernel.name, "k") == 0 && kernel.is_kernel == 1 && kernel.code > 0, "is k");
    is("a second", minilink_kernel(link, 1, &kernel, sizeof kernel), MINILINK_USAGE);
    is("no place for it", minilink_kernel(link, 0, NULL, sizeof kernel), MINILINK_USAGE);
    is("complete again", minilink_complete(link), MINILINK_USAGE);
    check(minilink_cubin(link, NULL), "the cubin stays");
    is("add behind", add_text(link, KERNEL_PTX, "x"), MINILINK_USAGE);
    is("a file behind", minilink_add_file(link, 0, fixture("fatbin/a.ptx")), MINILINK_USAGE);
    is("a library behind", minilink_add_library(link, "x"), MINILINK_USAGE);
    is("a folder behind", minilink_add_library_path(link, "."), MINILINK_USAGE);
    check(minilink_cubin(link, NULL), "the cubin stays still");
    minilink_cancel(link);
    check(minilink_cubin(link, NULL), "the cubin stays when it is cancelled late");
    minilink_destroy(&link);
}

/* A struct that a program of another version knows. */
static void try_sizes(void)
{
    struct minilink *link = begin(NULL);
    struct {
        struct minilink_kernel kernel;
        char more[64];
    } large;

    add_text(link, KERNEL_PTX, "k");
    is("complete", minilink_complete(link), MINILINK_OK);
    memset(&large, 0x5a, sizeof large);
    is("a small struct", minilink_kernel(link, 0, &large.kernel, sizeof(char *)), MINILINK_OK);
    check(strcmp(large.kernel.name, "k") == 0, "has the name");
    check(large.kernel.is_kernel == 0x5a5a5a5a, "and is not written beyond its size");
    is("a large struct", minilink_kernel(link, 0, &large.kernel, sizeof large), MINILINK_OK);
    check(large.kernel.is_kernel == 1, "has all that there is");
    minilink_destroy(&link);
}

static void try_option(const char *option, int expected)
{
    struct minilink *link = NULL;
    int code = minilink_create(&link, &option, 1);

    is(option, code, expected);
    check(link, "%s: no link", option);
    if (expected != MINILINK_OK) {
        check(*minilink_error_log(link, NULL), "%s: nothing said", option);
        is("a link without right options", minilink_complete(link), MINILINK_USAGE);
        check(*minilink_error_log(link, NULL), "%s: nothing said when completed", option);
        has_no_result(link, option);
    }
    minilink_destroy(&link);
}

static void try_options(void)
{
    static const char *const refused[] = {
        "--nonsense",
        "-arch=sm_1",
        "-arch=nonsense",
        "-o",
        "-o=x",
        "--help",
        "-h",
        "--version",
        "-V",
        "--list-targets",
        "-ghls=lcs-aw",
        "--assemble-chunk",
        "--color-diagnostics=always",
        "-maxrregcount=many",
        "--chunks=-1",
        "--assembler=none-such",
    };
    static const char *const taken[] = {"-arch=sm_90", "-v",      "-w",    "-lto",
                                        "-L.",         "-lnone",  "-m64",  "--memory-limit=1g",
                                        "-vv",         "-Werror", "-dlto", "-split-compile=2"};

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        try_option(refused[i], MINILINK_USAGE);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        try_option(taken[i], MINILINK_OK);
    check(access("x", F_OK) != 0, "-o wrote a file");
}

static void try_kinds(void)
{
    /* One file of each kind, in the order of enum minilink_input from 1 on. */
    static const char *const files[] = {
        "fatbin/k.sm90.cubin", "examples/scale.ptx", NULL,
        "fatbin/a.lto.fatbin", "fatbin/b.sass.o",    "fatbin/lib.a"};
    struct minilink *link = begin("-arch=sm_90");
    char text[64];

    for (int i = 0; i < 6; i++) {
        struct links_text contents;

        if (!files[i])
            continue;
        contents = links_read(fixture(files[i]));
        for (int kind = 1; kind <= 6; kind++) {
            struct minilink *one = begin("-arch=sm_90");
            int expected = kind == i + 1 ? MINILINK_OK : MINILINK_WRONG_INPUT;

            snprintf(text, sizeof text, "%s as kind %d", files[i], kind);
            is(text, minilink_add_file(one, (enum minilink_input)kind, fixture(files[i])),
               expected);
            if (expected != MINILINK_OK)
                says(one, files[i]);
            minilink_destroy(&one);
            one = begin("-arch=sm_90");
            is(text,
               minilink_add_data(one, (enum minilink_input)kind, contents.data, contents.size,
                                 "some name"),
               expected);
            if (expected != MINILINK_OK)
                says(one, "some name");
            minilink_destroy(&one);
        }
        is(files[i], minilink_add_file(link, MINILINK_INPUT_ANY, fixture(files[i])), MINILINK_OK);
        free(contents.data);
    }
    minilink_destroy(&link);
}

static void try_inputs(void)
{
    struct minilink *link = begin("-arch=sm_90");

    is("nothing", minilink_add_data(link, MINILINK_INPUT_ANY, "", 0, "x"), MINILINK_WRONG_INPUT);
    is("some text", minilink_add_data(link, MINILINK_INPUT_ANY, "hello", 5, NULL),
       MINILINK_WRONG_INPUT);
    says(link, "input 1");
    is("no file", minilink_add_file(link, MINILINK_INPUT_ANY, "none/such"), MINILINK_ENVIRONMENT);
    says(link, "none/such");
    is("a folder", minilink_add_file(link, MINILINK_INPUT_ANY, "."), MINILINK_ENVIRONMENT);
    is("an empty file", minilink_add_file(link, MINILINK_INPUT_ANY, fixture("fatbin/bad.empty.o")),
       MINILINK_WRONG_INPUT);
    is("the link is as before", add_text(link, KERNEL_PTX, NULL), MINILINK_OK);
    is("and links", minilink_complete(link), MINILINK_OK);
    check(minilink_kernel_count(link) == 1, "one input");
    minilink_destroy(&link);

    /* The NUL at the end of a text may be counted. */
    link = begin(NULL);
    is("a NUL", minilink_add_data(link, MINILINK_INPUT_PTX, KERNEL_PTX, sizeof KERNEL_PTX, "x"),
       MINILINK_OK);
    complete(&link, "at the end", MINILINK_OK, NULL);
    link = begin(NULL);
    is("a NUL", minilink_add_data(link, MINILINK_INPUT_ANY, KERNEL_PTX, sizeof KERNEL_PTX, "x"),
       MINILINK_OK);
    complete(&link, "at the end of what is found out", MINILINK_OK, NULL);

    link = begin(NULL);
    is("one", add_text(link, KERNEL_PTX, NULL), MINILINK_OK);
    is("undefined", add_text(link, CALLER_PTX, NULL), MINILINK_OK);
    is("an undefined symbol", minilink_complete(link), MINILINK_FAILED);
    says(link, "missing");
    says(link, "input 2");
    check(!strstr(minilink_error_log(link, NULL), "input 1"), "the first is named, too");
    has_no_result(link, "an undefined symbol");
    minilink_destroy(&link);

    link = begin(NULL);
    is("wrong", add_text(link, WRONG_PTX, "a name.ptx"), MINILINK_OK);
    is("a syntax error", minilink_complete(link), MINILINK_FAILED);
    says(link, "a name.ptx");
    says(link, "nonsense");
    check(*minilink_info_log(link, NULL) == 0 || !strstr(minilink_info_log(link, NULL), "error"),
          "errors in the other log");
    minilink_destroy(&link);

    link = begin(NULL);
    is("twice", add_text(link, KERNEL_PTX, "one.ptx"), MINILINK_OK);
    is("twice", add_text(link, KERNEL_PTX, "two.ptx"), MINILINK_OK);
    complete(&link, "two definitions", MINILINK_FAILED, "two.ptx");
}

/* Texts are copied: what was handed over may go before the link does. */
static void try_copies(void)
{
    char option[] = "-arch=sm_90", text[] = KERNEL_PTX, name[] = "a name";
    const char *options[] = {option};
    struct minilink *link = NULL, *other = begin("-arch=sm_90");
    size_t size, other_size;

    is("create", minilink_create(&link, options, 1), MINILINK_OK);
    memset(option, 'x', strlen(option));
    is("add", add_text(link, text, name), MINILINK_OK);
    memset(text, 'x', strlen(text));
    memset(name, 'x', strlen(name));
    check(links_write("copied.ptx", CALLER_PTX, strlen(CALLER_PTX)), "cannot write");
    is("a file", minilink_add_file(link, MINILINK_INPUT_PTX, "copied.ptx"), MINILINK_OK);
    unlink("copied.ptx");
    complete(&link, "complete", MINILINK_FAILED, "copied.ptx");

    check(links_write("copied.ptx", KERNEL_PTX, strlen(KERNEL_PTX)), "cannot write");
    link = begin("-arch=sm_90");
    is("a file", minilink_add_file(link, MINILINK_INPUT_PTX, "copied.ptx"), MINILINK_OK);
    check(links_write("copied.ptx", WRONG_PTX, strlen(WRONG_PTX)), "cannot write");
    is("complete", minilink_complete(link), MINILINK_OK);
    add_text(other, KERNEL_PTX, "x");
    is("complete", minilink_complete(other), MINILINK_OK);
    minilink_cubin(link, &size);
    minilink_cubin(other, &other_size);
    check(size == other_size &&
              memcmp(minilink_cubin(link, NULL), minilink_cubin(other, NULL), size) == 0,
          "the file as it was when it was added, whatever its name");
    unlink("copied.ptx");
    minilink_destroy(&link);
    minilink_destroy(&other);
}

static void try_ptx(void)
{
    struct minilink *link = begin("-emit-ptx"), *again;
    size_t size = 0;
    const char *ptx;

    add_text(link, KERNEL_PTX, "k");
    is("-emit-ptx", minilink_complete(link), MINILINK_OK);
    ptx = minilink_ptx(link, &size);
    check(ptx && size && strlen(ptx) == size, "PTX, with a NUL behind it");
    check(ptx && strstr(ptx, ".entry k"), "has the kernel");
    check(!minilink_cubin(link, &size) && !size, "and no cubin");
    check(minilink_kernel_count(link) == 0, "and no kernels");
    again = begin(NULL);
    is("it links", add_text(again, ptx ? ptx : "", "again"), MINILINK_OK);
    complete(&again, "it links", MINILINK_OK, NULL);
    minilink_destroy(&link);
}

static void try_libraries(void)
{
    struct minilink *link = begin("-arch=sm_90");
    char folder[PATH_MAX + 256];

    add_text(link, KERNEL_PTX, "k");
    is("a library", minilink_add_library(link, "none-such"), MINILINK_OK);
    complete(&link, "that is missing", MINILINK_FAILED, "none-such");

    /* The folder may be named behind the library. */
    check(symlink(fixture("fatbin/lib.a"), "libsome.a") == 0, "cannot make a library");
    link = begin("-arch=sm_90");
    is("a library", minilink_add_library(link, "some"), MINILINK_OK);
    is("and its folder", minilink_add_library_path(link, "none/such"), MINILINK_OK);
    snprintf(folder, sizeof folder, "%s", ".");
    is("and its folder", minilink_add_library_path(link, folder), MINILINK_OK);
    memset(folder, 'x', 2);
    is("complete", minilink_complete(link), MINILINK_OK);
    check(minilink_kernel_count(link) > 0, "has what is in the library");
    minilink_destroy(&link);
    unlink("libsome.a");
}

static void try_names(void)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {
        {0, "MINILINK_OK"},
        {1, "MINILINK_INTERNAL"},
        {5, "MINILINK_FAILED"},
        {7, "MINILINK_NVVM_ERROR"},
        {64, "MINILINK_NO_MEMORY"},
        {65, "MINILINK_CANCELLED"},
        {67, "MINILINK_USAGE"},
        {66, "MINILINK_ENVIRONMENT"},
        {68, "MINILINK_WRONG_INPUT"},
        {8, "MINILINK_NOT_RELOCATABLE"},
        {-1, "unknown"},
        {2, "unknown"},
        {1000, "unknown"},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check(strcmp(minilink_code_name(names[i].code), names[i].name) == 0, "%d is %s",
              names[i].code, minilink_code_name(names[i].code));
    check(strcmp(minilink_version(), "0.1.0") == 0, "the version is %s", minilink_version());
}

int main(int argc, char **argv)
{

    tally_begin();
    if (argc != 2 || !realpath(argv[1], fixtures))
        return 2;
    process_begin();
    try_nulls();
    try_long_end();
    try_order();
    try_sizes();
    try_options();
    try_kinds();
    try_inputs();
    try_copies();
    try_ptx();
    try_libraries();
    try_names();
    process_check("it");
    return tally_end();
}
