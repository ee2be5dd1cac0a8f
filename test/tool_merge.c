/* tool_merge: the merger alone, for comparisons with nvlink.
 *
 *     tool_merge [-r] [-g] [-p] [-v] [-a ABI] -o OUT IN.cubin...
 *
 * The target is that of the first input. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "diag/diag.h"
#include "input/rawcode.h"
#include "merge/merge.h"
#include "output/output.h"
#include "pool/spread.h"

static bool map_file(const char *path, struct bytes *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *data = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0)
        data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (data == MAP_FAILED) {
        diag_fatal("Could not open input file '%s'", path);
        return false;
    }
    *bytes = (struct bytes){data, (size_t)status.st_size};
    return true;
}

static void print_report(const struct merge_report *report)
{
    for (size_t i = 0; i < report->kernel_count; i++) {
        const struct kernel_report *kernel = &report->kernels[i];

        printf("%s %.*s: %u registers, %u barriers, %u bytes stack, %u bytes smem, %u bytes "
               "cmem[0]\n",
               kernel->is_kernel ? "kernel" : "function", TEXT_ARG(kernel->name), kernel->registers,
               kernel->barriers, kernel->stack, kernel->shared, kernel->constant0);
    }
    printf("%llu bytes gmem, %llu bytes cmem[3]\n", (unsigned long long)report->global_bytes,
           (unsigned long long)report->constant3_bytes);
    for (size_t i = 0; i < report->dead_functions; i++)
        printf("dead %s\n", report->dead_names[i]);
}

static bool write_image(const struct image *image, const char *path)
{
    struct output output;

    return output_open(&output, path) && image_append(image, &output, &(struct spread){0}) &&
           output_commit(&output);
}

static bool merge_files(char **paths, size_t count, struct merge_request *request,
                        const char *output, bool is_verbose)
{
    struct cubin *cubins = memory_zalloc(count, sizeof *cubins);
    const struct cubin **list = memory_zalloc(count, sizeof *list);
    struct merge_report report = {0};
    struct image image = {0};
    struct bytes bytes;
    struct arch arch;
    bool ok = true;

    for (size_t i = 0; i < count; i++) {
        const char *slash = strrchr(paths[i], '/');

        list[i] = &cubins[i];
        ok = ok && map_file(paths[i], &bytes) && rawcode_cubin_arch(bytes, &arch) &&
             cubin_read(&cubins[i], slash ? slash + 1 : paths[i], bytes);
        if (ok && i == 0)
            request->arch = arch;
    }
    ok = ok && merge_cubins(&image, list, count, request, &report) && write_image(&image, output);
    if (ok && is_verbose)
        print_report(&report);
    image_free(&image);
    merge_report_free(&report);
    for (size_t i = 0; i < count; i++)
        cubin_free(&cubins[i]);
    free(cubins);
    free(list);
    return ok;
}

int main(int argc, char **argv)
{
    struct merge_request request = {.version = "test", .output_name = ""};
    const char *output = "a.out";
    bool is_verbose = false;
    int option;

    while ((option = getopt(argc, argv, "rga:pvo:")) != -1) {
        switch (option) {
        case 'r':
            request.relocatable = true;
            break;
        case 'p':
            request.preserve_relocations = true;
            break;
        case 'g':
            request.debug = true;
            break;
        case 'a':
            request.abi = *optarg == '7' ? MERGE_ABI_7 : MERGE_ABI_8;
            break;
        case 'v':
            is_verbose = true;
            break;
        case 'o':
            output = optarg;
            break;
        default:
            return 2;
        }
    }
    return merge_files(argv + optind, (size_t)(argc - optind), &request, output, is_verbose) ? 0
                                                                                             : 1;
}
