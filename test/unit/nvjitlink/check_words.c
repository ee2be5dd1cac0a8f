/* What minilink is told for options of nvJitLink. */

#include "library/nvjitlink/internal.h"
#include "suite.h"

#define MOST 8

/* Reads options, which are divided by blanks, and joins what is said for them. */
static void say(struct buffer *said, const char *options, unsigned version, bool is_open)
{
    OWNED(arena) arena = {0};
    struct word_list words = {&arena, NULL, 0, 0};
    struct settings settings = {.version = version};
    OWNED(buffer) errors = {0};
    const char *list[MOST];
    uint32_t count = 0;
    char copy[256], *rest = NULL;

    ck_assert_uint_lt(strlen(options), sizeof copy);
    for (char *word = strtok_r(strcpy(copy, options), " ", &rest); word;
         word = strtok_r(NULL, " ", &rest)) {
        ck_assert_uint_lt(count, MOST);
        list[count++] = word;
    }
    ck_assert_int_eq(settings_read(&settings, &arena, list, count, &errors), NVJITLINK_SUCCESS);
    settings.library = (char[]){"/lib/other.so"};
    settings_words(&settings, is_open ? FOR_OPEN_PROGRAM : FOR_PROGRAM, &words);
    for (size_t i = 0; i < words.count; i++)
        buffer_printf(said, i == 0 ? "%s" : " %s", words.list[i]);
    buffer_char(said, '\0');
}

#define STORED  " --ignore-stored-options"
#define PTXAS   STORED " --assembler=ptxas"
#define QUIET   " -disable-infos"
#define COMMON  PTXAS QUIET
#define IGNORED " -ignore-host-info"
#define LTO     " -lto --nvjitlink=/lib/other.so"

static const struct {
    const char *options;
    unsigned version;
    bool is_open;
    const char *words;
} rows[] = {
    {"-arch=sm_90", 135, false, "-arch=sm_90" COMMON IGNORED},
    {"-arch=sm_100f", 135, true, "-arch=sm_100f" COMMON IGNORED},
    /* Drivers of CUDA 12 read the form of theirs where they know the target. */
    {"-arch=sm_90a", 129, false, "-arch=sm_90a" COMMON " --output-abi=7" IGNORED},
    {"-arch=sm_100", 129, false, "-arch=sm_100" COMMON IGNORED},
    {"-arch=sm_90 -g", 135, false, "-arch=sm_90" PTXAS " -g" QUIET IGNORED},
    {"-arch=sm_90 -O0", 135, false, "-arch=sm_90" PTXAS " -Xptxas=-O0" QUIET IGNORED},
    {"-arch=sm_90 -O3", 135, false, "-arch=sm_90" COMMON IGNORED},
    {"-arch=sm_90 -lineinfo", 135, false, "-arch=sm_90" PTXAS " -Xptxas=-lineinfo" QUIET IGNORED},
    {"-arch=sm_90 -fast-compile", 135, false,
     "-arch=sm_90" PTXAS " -Xptxas=--fast-compile" QUIET IGNORED},
    {"-arch=sm_90 -no-cache", 135, false, "-arch=sm_90" PTXAS " --no-cache" QUIET IGNORED},
    {"-arch=sm_90 -verbose", 135, false, "-arch=sm_90" PTXAS " -Xptxas=-v -v" IGNORED},
    {"-arch=sm_90 -Xptxas=-v", 135, false, "-arch=sm_90" PTXAS " -Xptxas=-v" IGNORED},
    /* -nvvm-latest is new in 13.5; libraries from 12.5 on know the other one. */
    {"-arch=sm_90 -lto -nvvm-latest -nvvm-version=nvvm-next", 135, false,
     "-arch=sm_90" COMMON LTO " -nvvm-latest" IGNORED},
    {"-arch=sm_90 -lto -nvvm-version=nvvm-latest -nvvm-version=nvvm70", 129, false,
     "-arch=sm_90" COMMON LTO " -nvvm-latest --output-abi=7" IGNORED},
    {"-arch=sm_90 -nvvm-latest -Xfinalizer=x", 135, false, "-arch=sm_90" COMMON IGNORED},
    {"-arch=sm_90 --enable-extended-smem=true -disable-smem-reserve", 135, false,
     "-arch=sm_90" PTXAS " -disable-infos -Xptxas=--enable-extended-smem=true" IGNORED
     " --enable-extended-smem=true --disable-smem-reservation=true"},
    {"-arch=sm_90 -relocatable", 135, false, "-arch=sm_90" COMMON " -r" IGNORED},
    {"-arch=sm_90 -maxrregcount=32 -maxrregcount=x", 135, false,
     "-arch=sm_90" COMMON " -maxrregcount=32 -Xptxas=-maxrregcount=x" IGNORED},
    {"-arch=sm_90 -maxrregcount=12345678 -maxrregcount=123456789", 135, false,
     "-arch=sm_90" COMMON " -maxrregcount=12345678 -Xptxas=-maxrregcount=123456789" IGNORED},
    /* Which lists of names there are. */
    {"-arch=sm_90 -kernels-used=k", 135, false,
     "-arch=sm_90" COMMON " -Xnvvm=-host-ref-eg=* -Xnvvm=-host-ref-ig=* -kernels-used=k"},
    {"-arch=sm_90 -variables-used=v", 135, false, "-arch=sm_90" COMMON " -variables-used=v"},
    {"-arch=sm_90 -kernels-used=k -variables-used=v", 135, false,
     "-arch=sm_90" COMMON " -kernels-used=k -variables-used=v"},
    {"-arch=sm_90 -kernels-used=k -optimize-unused-variables", 135, false,
     "-arch=sm_90" COMMON " -kernels-used=k"},
    {"-arch=sm_90 -optimize-unused-variables", 135, false, "-arch=sm_90" COMMON IGNORED},
    {"-arch=sm_90 -lto -optimize-unused-variables", 135, false,
     "-arch=sm_90" COMMON LTO IGNORED " -Xnvvm=-host-ref-eg=-"},
    /* libnvvm's words need LTO-IR, and PTX is made in one piece. */
    {"-arch=sm_90 -ftz=1 -Xnvvm=-a -split-compile=4 -split-compile-extended=4", 135, false,
     "-arch=sm_90" COMMON IGNORED},
    {"-arch=sm_90 -lto -ftz=1 -split-compile=x -split-compile-extended=1000", 135, false,
     "-arch=sm_90" COMMON LTO IGNORED
     " -Xnvvm=-ftz=1 -split-compile=0 -split-compile-extended=999"},
    {"-arch=compute_90 -dlto -ptx -split-compile-extended=999 -split-compile=0", 135, false,
     "-arch=sm_90" COMMON LTO " -emit-ptx" IGNORED " -split-compile=999 -split-compile=0"},
    {"-arch=compute_90 -lto -ptx -r", 135, false, "-arch=sm_90" COMMON LTO " -emit-ptx" IGNORED},
    {"-arch=sm_90 -lto -ptx", 135, true, "-arch=sm_90" COMMON LTO " -emit-ptx -r" IGNORED},
    {"-arch=sm_90 -lto -O0 -lineinfo", 135, false,
     "-arch=sm_90" PTXAS " -Xptxas=-O0 -Xptxas=-lineinfo" QUIET LTO
     " -Xnvvm=-opt=0 -Xnvvm=-generate-line-info" IGNORED},
};

TEST_LOOP(options_are_said_to_minilink, COUNT(rows))
{
    OWNED(buffer) said = {0};

    unsetenv("MINILINK_ASSEMBLER");
    say(&said, rows[_i].options, rows[_i].version, rows[_i].is_open);
    ck_assert_str_eq(said.data, rows[_i].words);
}

/* Another assembler is asked for nothing that ptxas alone has. */
TEST(the_environment_chooses_the_assembler)
{
    static const char *const values[] = {"builtin", ""};

    for (int i = 0; i < COUNT(values); i++) {
        OWNED(buffer) said = {0};

        setenv("MINILINK_ASSEMBLER", values[i], 1);
        say(&said, "-arch=sm_90 -fast-compile", 135, false);
        ck_assert_str_eq(said.data, i == 0 ? "-arch=sm_90" STORED QUIET IGNORED
                                           : "-arch=sm_90" PTXAS
                                             " -Xptxas=--fast-compile" QUIET IGNORED);
    }
}

/* Of one input: what concerns its assembly alone. To look at a cubin: nothing is said. */
TEST(inputs_have_fewer_words)
{
    OWNED(arena) arena = {0};
    struct word_list input = {&arena, NULL, 0, 0}, check = input, ltoir = input;
    struct settings settings = {.version = 129};
    struct buffer errors = {0};
    static const char *const options[] = {"-arch=sm_90", "-lto", "-maxrregcount=32", "-ftz=1"};
    static const char *const of_input[] = {"-arch=sm_90",
                                           "--ptxas=/p",
                                           "--ignore-stored-options",
                                           "--assembler=ptxas",
                                           "-disable-infos",
                                           "-maxrregcount=32",
                                           "-r"};
    static const char *const of_check[] = {"-arch=sm_90", "--ptxas=/p", "-r",
                                           "--dry-run",   "-w",         "-disable-infos"};
    static const char *const of_ltoir[] = {"-arch=sm_90",       "--ptxas=/p",        "--emit-ltoir",
                                           "--nvjitlink=/l.so", "-ignore-host-info", "-v",
                                           "-disable-infos"};

    unsetenv("MINILINK_ASSEMBLER");
    ck_assert_int_eq(settings_read(&settings, &arena, options, COUNT(options), &errors),
                     NVJITLINK_SUCCESS);
    settings.library = (char[]){"/l.so"};
    settings.ptxas = (char[]){"/p"};
    settings_words(&settings, FOR_INPUT, &input);
    ck_assert_uint_eq(input.count, COUNT(of_input));
    for (int i = 0; i < COUNT(of_input); i++)
        ck_assert_str_eq(input.list[i], of_input[i]);
    settings_words(&settings, FOR_CHECK, &check);
    ck_assert_uint_eq(check.count, COUNT(of_check));
    for (int i = 0; i < COUNT(of_check); i++)
        ck_assert_str_eq(check.list[i], of_check[i]);
    settings_words(&settings, FOR_LTOIR, &ltoir);
    ck_assert_uint_eq(ltoir.count, COUNT(of_ltoir));
    for (int i = 0; i < COUNT(of_ltoir); i++)
        ck_assert_str_eq(ltoir.list[i], of_ltoir[i]);
}

/* How often another target was asked for, whatever else the name says. */
TEST(the_last_target_counts)
{
    static const struct {
        const char *options[4];
        unsigned changes;
    } targets[] = {{{"-arch=sm_90"}, 0},
                   {{"-arch=sm_90", "-arch=sm_90"}, 0},
                   {{"-arch=sm_80", "-arch=sm_90"}, 1},
                   {{"-arch=sm_90a", "-arch=sm_90"}, 1},
                   {{"-arch=sm_80", "-arch=sm_90a", "-arch=sm_90"}, 2}};

    for (int i = 0; i < COUNT(targets); i++) {
        OWNED(arena) arena = {0};
        struct settings settings = {0};
        OWNED(buffer) errors = {0};
        uint32_t count = 0;

        while (count < 4 && targets[i].options[count])
            count++;
        ck_assert_int_eq(settings_read(&settings, &arena, targets[i].options, count, &errors),
                         NVJITLINK_SUCCESS);
        ck_assert_uint_eq(settings.arch.sm, 90);
        ck_assert_int_eq(settings.arch.suffix, '\0');
        ck_assert_uint_eq(settings.target_changes, targets[i].changes);
    }
}
