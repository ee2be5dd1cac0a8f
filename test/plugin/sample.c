/* sample.c: the smallest assembler plug-in that does something, and a probe for tests.
 *
 * It needs nothing but <minilink/assembler.h>:
 *     cc -shared -fPIC -o sample-plugin.so sample.c
 *     minilink --assembler=plugin:./sample-plugin.so ...
 * Its cubins are well-formed and empty: an ELF header and four sections, without a function.
 *
 * Environment, each optional:
 *     SAMPLE_LOG       file to which "start NAME NANOSECONDS" and "end NAME NANOSECONDS CODE" are
 *                      appended, one line each, for tests of order and concurrency
 *     SAMPLE_SLEEP_MS  milliseconds that a chunk takes; given up soon after a cancellation
 *     SAMPLE_FAIL      a chunk whose PTX contains this text cannot be assembled
 *     SAMPLE_CODE      the number that each chunk ends with
 *     SAMPLE_CUBIN     with a cubin, whatever that number is
 *     SAMPLE_ABORT     a chunk whose PTX contains this text does what no plug-in may: it ends the
 *                      whole program, or its thread
 *     SAMPLE_END       how: "abort" (also when not set), "exit", "quick_exit", "_exit",
 *                      "pthread_exit", "pthread_cancel", "overflow" (of the stack)
 *     SAMPLE_NOISE     written to standard error by each chunk, which no plug-in may
 *     SAMPLE_TRUNCATE  a file that the first chunk empties, as somebody else might */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <minilink/assembler.h>

#define SAMPLE_OSABI      0x41 /* measured on ptxas 13.0, as the next two */
#define SAMPLE_ABIVERSION 8
#define SAMPLE_EM_CUDA    190

static unsigned long long now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (unsigned long long)time.tv_sec * 1000000000u + (unsigned long long)time.tv_nsec;
}

/* One write with O_APPEND: lines of several threads and processes do not mix. */
static void note(const char *line)
{
    const char *path = getenv("SAMPLE_LOG");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;

    if (fd < 0)
        return;
    if (write(fd, line, strlen(line)) < 0)
        errno = 0; /* the log is for tests only; they will miss the line */
    close(fd);
}

static int is_cancelled(const struct minilink_job *job)
{
    return job->cancelled && __atomic_load_n(job->cancelled, __ATOMIC_RELAXED);
}

static void take_time(const struct minilink_job *job)
{
    const char *setting = getenv("SAMPLE_SLEEP_MS");
    long left = setting ? strtol(setting, NULL, 10) : 0;

    for (; left > 0 && !is_cancelled(job); left -= 5) {
        struct timespec slice = {.tv_nsec = (left < 5 ? left : 5) * 1000000};

        nanosleep(&slice, NULL);
    }
}

/* The names of all sections, and behind them the empty string table and the empty symbol. */
static const char section_names[] = "\0.shstrtab\0.strtab\0.symtab";

struct sample_cubin {
    Elf64_Ehdr header;
    char names[32];
    char strings[8];
    Elf64_Sym symbols[1];
    Elf64_Shdr sections[4];
};

static struct sample_cubin *make_cubin(const struct minilink_job *job)
{
    struct sample_cubin *cubin = calloc(1, sizeof *cubin);

    if (!cubin)
        return NULL;
    memcpy(cubin->header.e_ident, ELFMAG, SELFMAG);
    cubin->header.e_ident[EI_CLASS] = ELFCLASS64;
    cubin->header.e_ident[EI_DATA] = ELFDATA2LSB;
    cubin->header.e_ident[EI_VERSION] = EV_CURRENT;
    cubin->header.e_ident[EI_OSABI] = SAMPLE_OSABI;
    cubin->header.e_ident[EI_ABIVERSION] = SAMPLE_ABIVERSION;
    cubin->header.e_type = ET_REL;
    cubin->header.e_machine = SAMPLE_EM_CUDA;
    cubin->header.e_version = EV_CURRENT;
    cubin->header.e_shoff = offsetof(struct sample_cubin, sections);
    /* Bits 8 to 15 the number of the architecture, bits 0 to 7 its class. */
    cubin->header.e_flags = job->sm << 8 | (job->sm < 100 ? 4 : 2);
    cubin->header.e_ehsize = sizeof(Elf64_Ehdr);
    cubin->header.e_phentsize = sizeof(Elf64_Phdr);
    cubin->header.e_shentsize = sizeof(Elf64_Shdr);
    cubin->header.e_shnum = 4;
    cubin->header.e_shstrndx = 1;
    memcpy(cubin->names, section_names, sizeof section_names);
    cubin->sections[1] = (Elf64_Shdr){.sh_name = 1,
                                      .sh_type = SHT_STRTAB,
                                      .sh_offset = offsetof(struct sample_cubin, names),
                                      .sh_size = sizeof section_names,
                                      .sh_addralign = 1};
    cubin->sections[2] = (Elf64_Shdr){.sh_name = 11,
                                      .sh_type = SHT_STRTAB,
                                      .sh_offset = offsetof(struct sample_cubin, strings),
                                      .sh_size = 1,
                                      .sh_addralign = 1};
    cubin->sections[3] = (Elf64_Shdr){.sh_name = 19,
                                      .sh_type = SHT_SYMTAB,
                                      .sh_offset = offsetof(struct sample_cubin, symbols),
                                      .sh_size = sizeof cubin->symbols,
                                      .sh_link = 2,
                                      .sh_info = 1,
                                      .sh_addralign = 8,
                                      .sh_entsize = sizeof(Elf64_Sym)};
    return cubin;
}

/* GCC would make a loop of it without the barrier. */
static size_t overflow(size_t depth)
{
    char room[4096];

    room[depth % sizeof room] = (char)depth;
    __asm__ volatile("" : : "r"(room) : "memory");
    return depth ? overflow(depth + 1) + (size_t)room[0] : 0;
}

static void end_program(void)
{
    const char *how = getenv("SAMPLE_END");

    if (!how || strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "exit") == 0)
        exit(0);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(0);
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    if (strcmp(how, "pthread_exit") == 0)
        pthread_exit(NULL);
    if (strcmp(how, "pthread_cancel") == 0) {
        pthread_cancel(pthread_self());
        pthread_testcancel();
    }
    if (strcmp(how, "overflow") == 0 && overflow(1) == 0)
        abort();
}

static int make_result(const struct minilink_job *job, struct minilink_result *result)
{
    const char *fail = getenv("SAMPLE_FAIL"), *crash = getenv("SAMPLE_ABORT");
    const char *truncated = getenv("SAMPLE_TRUNCATE"), *noise = getenv("SAMPLE_NOISE");
    const char *code = getenv("SAMPLE_CODE");

    if (is_cancelled(job))
        return MINILINK_CANCELLED;
    if (crash && *crash && strstr(job->ptx, crash))
        end_program();
    if (noise && write(STDERR_FILENO, noise, strlen(noise)) < 0)
        return MINILINK_INTERNAL;
    if (truncated && truncate(truncated, 0))
        return MINILINK_FAILED;
    if (fail && *fail && strstr(job->ptx, fail)) {
        result->log = strdup("1:1: error: SAMPLE_FAIL is in this chunk\n");
        return MINILINK_FAILED;
    }
    if (code && !getenv("SAMPLE_CUBIN"))
        return atoi(code);
    result->cubin = make_cubin(job);
    if (!result->cubin)
        return MINILINK_NO_MEMORY;
    result->cubin_size = sizeof(struct sample_cubin);
    return code ? atoi(code) : MINILINK_OK;
}

static int sample_assemble(void *state, const struct minilink_job *job,
                           struct minilink_result *result)
{
    char line[160];
    int code;

    (void)state;
    snprintf(line, sizeof line, "start %.64s %llu\n", job->name, now());
    note(line);
    take_time(job);
    code = make_result(job, result);
    snprintf(line, sizeof line, "end %.64s %llu %d\n", job->name, now(), code);
    note(line);
    return code;
}

const struct minilink_assembler minilink_assembler = {
    .abi = MINILINK_ASSEMBLER_ABI,
    .name = "sample",
    .version = "1",
    .assemble = sample_assemble,
};
