/* nvjitlink.c: a libnvJitLink for tests: it takes the calls of the real one, and answers with the
 * PTX in the file that FAKE_PTX names, behind comments that say what it was given. Of the kernels
 * there it keeps those that -host-ref-ek= or -host-ref-ik= name, where one is given; for each it
 * sleeps FAKE_SLEEP_MS milliseconds. FAKE_WAY chooses how it misbehaves, and FAKE_KERNEL in which
 * runs: those that keep that kernel. SAMPLE_LOG is a file to note in when a run starts and ends, or
 * each of its threads under -split-compile (client_threads.h).
 * Like the real library's, some functions have names with a version, some without. With -DOLDEST it
 * is like that of CUDA 12.0: all names have that version, none tells it, and lists are in a file,
 * of which it prints the lines as infos. */
#include <dlfcn.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client_threads.h"

#ifdef OLDEST
#define VERSIONED(name) __##name##_12_0
#define PLAIN(name)     VERSIONED(name)
#define REFUSAL         6
#else
#define VERSIONED(name) __##name##_12_9
#define PLAIN(name)     name
#define REFUSAL         14
#endif

struct nvJitLink {
    char names[1 << 16]; /* of kernels, with commas between them and behind the last */
    int has_names;
    int threads, is_client; /* -split-compile, -Xnvvm=-jobserver */
    char log[4096];
    char info[4096];
    char ptx[1 << 20];
    size_t given; /* bytes of it that say what it was given */
};

/* What the real library has is declared in NVIDIA's header, with types of its own. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static struct nvJitLink only; /* no memory that a leak checker would miss in a test */

static int keeps(const char *name)
{
    char pattern[4096];

    for (const char *at = only.names; *at; at += strcspn(at, ",") + 1) {
        snprintf(pattern, sizeof pattern, "%.*s", (int)strcspn(at, ","), at);
        if (fnmatch(pattern, name, 0) == 0)
            return 1;
    }
    return !only.has_names;
}

static int is_way(const char *way)
{
    const char *wanted = getenv("FAKE_WAY"), *kernel = getenv("FAKE_KERNEL");

    return wanted && strcmp(wanted, way) == 0 && (!kernel || keeps(kernel));
}

static void add(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

int PLAIN(nvJitLinkVersion)(unsigned *major, unsigned *minor)
{
    *major = 12;
    *minor = 9;
    return 0;
}

static void read_lists(const char *option)
{
    static const char name[] = "-Xnvvm=-host-ref-file=";
    FILE *file =
        strncmp(option, name, sizeof name - 1) == 0 ? fopen(option + sizeof name - 1, "re") : NULL;

    if (!file)
        return;
    only.info[fread(only.info, 1, sizeof only.info - 1, file)] = '\0';
    fclose(file);
}

int VERSIONED(nvJitLinkCreate)(struct nvJitLink **handle, uint32_t count, const char **options)
{
    static const char *const lists[] = {"-Xnvvm=-host-ref-ek=", "-Xnvvm=-host-ref-ik="};

    *handle = NULL;
    memset(&only, 0, sizeof only);
    only.threads = 1;
    for (uint32_t i = 0; i < count; i++) {
        sscanf(options[i], "-split-compile=%d", &only.threads);
        only.is_client |= strcmp(options[i], "-Xnvvm=-jobserver") == 0;
        for (int list = 0; list < 2; list++) {
            size_t size = strlen(lists[list]);

            if (strncmp(options[i], lists[list], size) != 0)
                continue;
            add(only.names, sizeof only.names, "%s,", options[i] + size);
            only.has_names = 1;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        read_lists(options[i]);
    if (is_way("create"))
        return 1;
    *handle = &only;
    add((*handle)->ptx, sizeof(*handle)->ptx, "// options:");
    for (uint32_t i = 0; i < count; i++)
        add((*handle)->ptx, sizeof(*handle)->ptx, " %s", options[i]);
    add((*handle)->ptx, sizeof(*handle)->ptx, "\n");
    return 0;
}

/* Of a fatbin: how many bytes follow its header, the first entry's kind and options. */
static void describe_fatbin(struct nvJitLink *link, const uint8_t *data)
{
    uint32_t descriptor, at;

    memcpy(&descriptor, data + 16 + 0x14, 4);
    memcpy(&at, data + 16 + descriptor, 4);
    add(link->ptx, sizeof link->ptx, ", %u bytes of entries, kind %u, options '%s'",
        (unsigned)(data[8] | data[9] << 8), data[16], (const char *)data + 16 + at);
}

int PLAIN(nvJitLinkAddData)(struct nvJitLink *link, int type, const void *data, size_t size,
                            const char *name)
{
    const uint8_t *bytes = data;

    add(link->ptx, sizeof link->ptx, "// input %s: type %d, %zu bytes", name, type, size);
    if (type == 4 && size > 80)
        describe_fatbin(link, bytes);
    add(link->ptx, sizeof link->ptx, "\n");
    if (REFUSAL == 6 && is_way("refuse"))
        add(link->log, sizeof link->log, "4: nvvmAddNVVMContainerToProgram:\n");
    return is_way("refuse") || is_way("target") ? REFUSAL : 0;
}

/* As the real library does for each link (12.9 to 13.5); what cuInit says is an info. */
static void start_driver(struct nvJitLink *link)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
    int (*init)(unsigned) = driver ? (int (*)(unsigned))dlsym(driver, "cuInit") : NULL;

    add(link->info, sizeof link->info, "driver: %d\n", init ? init(0) : -1);
}

static void misbehave(void)
{
    if (is_way("crash"))
        raise(SIGSEGV);
    if (is_way("grow"))
        raise(SIGXFSZ);
    if (is_way("abort")) {
        fprintf(stderr, "terminate called\n");
        abort();
    }
    if (is_way("exit"))
        _exit(0); /* exit would run a sanitizer's checks */
    if (is_way("stay")) {
        FILE *file = fopen("pid", "we");

        fprintf(file, "%d\n", (int)getpid());
        fclose(file);
        pause();
    }
    if (is_way("print"))
        printf("a line on standard output\n");
    fflush(stdout);
}

/* Leaves out kernels that are not to be kept. Each begins in a line of its own and ends with the
 * next `}`. Returns how many stay. */
static unsigned drop_kernels(char *ptx)
{
    static const char entry[] = ".entry ";
    char *to = ptx;
    unsigned kept = 0;

    while (*ptx) {
        size_t size = strcspn(ptx, "\n") + 1;
        char *found = memmem(ptx, size, entry, sizeof entry - 1);
        char name[4096];

        if (found) {
            size = (size_t)(strchr(found, '}') + 2 - ptx);
            found += sizeof entry - 1;
            snprintf(name, sizeof name, "%.*s", (int)strcspn(found, "( "), found);
            if (!keeps(name)) {
                ptx += size;
                continue;
            }
            kept++;
        }
        memmove(to, ptx, size);
        to += size;
        ptx += size;
    }
    *to = '\0';
    return kept;
}

/* False: its threads cannot be counted. */
static bool work(unsigned kernels)
{
    const char *each = getenv("FAKE_SLEEP_MS");
    long milliseconds = each ? atol(each) : 0;

    if (only.threads > 1)
        return client_threads(only.threads, only.is_client, milliseconds);
    client_sleep(milliseconds * kernels);
    return true;
}

int VERSIONED(nvJitLinkComplete)(struct nvJitLink *link)
{
    const char *path = getenv("FAKE_PTX");
    size_t used = strlen(link->ptx), start = used;
    unsigned kernels;
    FILE *file;

    if (only.threads == 1)
        client_note("start", "");

    if (is_way("driver"))
        start_driver(link);
    misbehave();
    if (is_way("fail")) {
        add(link->log, sizeof link->log,
            "ERROR in nvvmCompileProgram: NVVM_ERROR_COMPILATION\ninput-00000000: link error: "
            "clash\n\n");
        return 5;
    }
    add(link->info, sizeof link->info, "WARNING: something odd\nsomething to know\n");
    if (is_way("tell"))
        add(link->info, sizeof link->info,
            "SUCCESS: Solid LTOIR Container created (12 bytes)\n"
            "INFO: NVVM70 LTOIR Container created (34 bytes)\n");
    link->given = start;
    file = path ? fopen(path, "re") : NULL;
    if (!file)
        return 6;
    used += fread(link->ptx + used, 1, sizeof link->ptx - used - 1, file);
    link->ptx[used] = '\0';
    fclose(file);
    kernels = drop_kernels(link->ptx + start);
    if (is_way("bare") && only.has_names && kernels == 0)
        return 5; /* as from sm_100 on */
    if (is_way("differ"))
        add(link->ptx, sizeof link->ptx, ".visible .global .u32 odd = %u;\n", kernels);
    if (!work(kernels))
        return 6;
    if (only.threads == 1)
        client_note("end", " 0");
    return 0;
}

static int get(const char *from, char *to)
{
    strcpy(to, from);
    return 0;
}

int PLAIN(nvJitLinkGetLinkedPtxSize)(struct nvJitLink *link, size_t *size)
{
    *size = is_way("empty") ? 0 : strlen(link->ptx) + 1;
    return 0;
}

int PLAIN(nvJitLinkGetLinkedPtx)(struct nvJitLink *link, char *ptx)
{
    return get(link->ptx, ptx);
}

/* A head like that of LTO-IR, which says no target, and what it was given. */
enum { LTOIR_HEAD = 32 };

int PLAIN(nvJitLinkGetLinkedLTOIRSize)(struct nvJitLink *link, size_t *size)
{
    *size = LTOIR_HEAD + link->given;
    return is_way("bare-ltoir") ? 6 : 0;
}

int PLAIN(nvJitLinkGetLinkedLTOIR)(struct nvJitLink *link, char *ltoir)
{
    memset(ltoir, 0, LTOIR_HEAD);
    memcpy(ltoir, "\355CN\177", 4);
    memcpy(ltoir + LTOIR_HEAD, link->ptx, link->given);
    return 0;
}

int PLAIN(nvJitLinkGetErrorLogSize)(struct nvJitLink *link, size_t *size)
{
    *size = strlen(link->log) + 1;
    return 0;
}

int PLAIN(nvJitLinkGetErrorLog)(struct nvJitLink *link, char *log)
{
    return get(link->log, log);
}

int PLAIN(nvJitLinkGetInfoLogSize)(struct nvJitLink *link, size_t *size)
{
    *size = strlen(link->info) + 1;
    return 0;
}

int PLAIN(nvJitLinkGetInfoLog)(struct nvJitLink *link, char *log)
{
    return get(link->info, log);
}
