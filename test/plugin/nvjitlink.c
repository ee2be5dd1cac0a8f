/* nvjitlink.c: a libnvJitLink for tests: it takes the calls of the real one, and answers with the
 * PTX in the file that FAKE_PTX names, behind comments that say what it was given. FAKE_WAY chooses
 * how it misbehaves. Like the real library's, some functions have names with a version, some
 * without. */
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct nvJitLink {
    char log[4096];
    char info[4096];
    char ptx[1 << 20];
};

int nvJitLinkVersion(unsigned *major, unsigned *minor);
int __nvJitLinkCreate_12_9(struct nvJitLink **handle, uint32_t count, const char **options);
int nvJitLinkAddData(struct nvJitLink *link, int type, const void *data, size_t size,
                     const char *name);
int __nvJitLinkComplete_12_9(struct nvJitLink *link);
int nvJitLinkGetLinkedPtxSize(struct nvJitLink *link, size_t *size);
int nvJitLinkGetLinkedPtx(struct nvJitLink *link, char *ptx);
int nvJitLinkGetErrorLogSize(struct nvJitLink *link, size_t *size);
int nvJitLinkGetErrorLog(struct nvJitLink *link, char *log);
int nvJitLinkGetInfoLogSize(struct nvJitLink *link, size_t *size);
int nvJitLinkGetInfoLog(struct nvJitLink *link, char *log);

static int is_way(const char *way)
{
    const char *wanted = getenv("FAKE_WAY");

    return wanted && strcmp(wanted, way) == 0;
}

static void add(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

int nvJitLinkVersion(unsigned *major, unsigned *minor)
{
    *major = 12;
    *minor = 9;
    return 0;
}

int __nvJitLinkCreate_12_9(struct nvJitLink **handle, uint32_t count, const char **options)
{
    static struct nvJitLink only; /* no memory that a leak checker would miss in a test */

    *handle = NULL;
    if (is_way("create"))
        return 1;
    memset(&only, 0, sizeof only);
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

int nvJitLinkAddData(struct nvJitLink *link, int type, const void *data, size_t size,
                     const char *name)
{
    const uint8_t *bytes = data;

    add(link->ptx, sizeof link->ptx, "// input %s: type %d, %zu bytes", name, type, size);
    if (type == 4 && size > 80)
        describe_fatbin(link, bytes);
    add(link->ptx, sizeof link->ptx, "\n");
    return is_way("refuse") ? 14 : 0;
}

static void misbehave(void)
{
    if (is_way("crash"))
        raise(SIGSEGV);
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

int __nvJitLinkComplete_12_9(struct nvJitLink *link)
{
    const char *path = getenv("FAKE_PTX");
    size_t used = strlen(link->ptx);
    FILE *file;

    misbehave();
    if (is_way("fail")) {
        add(link->log, sizeof link->log,
            "ERROR in nvvmCompileProgram: NVVM_ERROR_COMPILATION\nx.o: link error: clash\n\n");
        return 5;
    }
    add(link->info, sizeof link->info, "WARNING: something odd\nsomething to know\n");
    file = path ? fopen(path, "re") : NULL;
    if (!file)
        return 6;
    used += fread(link->ptx + used, 1, sizeof link->ptx - used - 1, file);
    link->ptx[used] = '\0';
    fclose(file);
    return 0;
}

static int get(const char *from, char *to)
{
    strcpy(to, from);
    return 0;
}

int nvJitLinkGetLinkedPtxSize(struct nvJitLink *link, size_t *size)
{
    *size = is_way("empty") ? 0 : strlen(link->ptx) + 1;
    return 0;
}

int nvJitLinkGetLinkedPtx(struct nvJitLink *link, char *ptx)
{
    return get(link->ptx, ptx);
}

int nvJitLinkGetErrorLogSize(struct nvJitLink *link, size_t *size)
{
    *size = strlen(link->log) + 1;
    return 0;
}

int nvJitLinkGetErrorLog(struct nvJitLink *link, char *log)
{
    return get(link->log, log);
}

int nvJitLinkGetInfoLogSize(struct nvJitLink *link, size_t *size)
{
    *size = strlen(link->info) + 1;
    return 0;
}

int nvJitLinkGetInfoLog(struct nvJitLink *link, char *log)
{
    return get(link->info, log);
}
