/* check_rawcode.c: what the header of a cubin of each generation says about its target. */
#include <elf.h>

#include "input/rawcode.h"
#include "suite.h"

/* e_flags as ptxas writes them, and .nv.compat as words, up to a 0. */
static const struct {
    const char *what;
    uint8_t osabi;
    uint32_t flags;
    uint32_t compat[3];
    const char *name;
} cubins[] = {
    {"12.9, sm_90", 0x33, 0x005a055a, {0}, "sm_90"},
    {"12.9, sm_90a", 0x33, 0x005a0d5a, {0}, "sm_90a"},
    {"12.9, sm_100", 0x41, 0x06006402, {0x00010202, 0x00000302}, "sm_100"},
    {"12.9, sm_100a", 0x41, 0x0600640a, {0x00010202, 0x00000302}, "sm_100a"},
    {"12.9, sm_121a", 0x41, 0x0600790a, {0x00010202, 0x00000302}, "sm_121a"},
    {"13.0, sm_90a", 0x41, 0x06005a04, {0x00010902, 0x00010202}, "sm_90a"},
    {"13.5, sm_100a", 0x41, 0x06006402, {0x00010902, 0x00010202}, "sm_100a"},
    {"13.5, sm_100f", 0x41, 0x06006402, {0x00000902, 0x00010202}, "sm_100"},
    {"the attribute counts more than the flag", 0x41, 0x0600640a, {0x00000902}, "sm_100"},
};

TEST_LOOP(the_suffix_is_an_attribute_or_a_flag, COUNT(cubins))
{
    struct cubin_file {
        Elf64_Ehdr header;
        uint32_t compat[2];
        Elf64_Shdr none, section;
    } file = {
        {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, cubins[_i].osabi},
         .e_flags = cubins[_i].flags,
         .e_shoff = offsetof(struct cubin_file, none),
         .e_shentsize = sizeof(Elf64_Shdr),
         .e_shnum = 2},
        {cubins[_i].compat[0], cubins[_i].compat[1]},
        {0},
        {.sh_type = 0x70000086, .sh_offset = offsetof(struct cubin_file, compat)}};
    struct bytes data = {(const uint8_t *)&file, sizeof file};
    char name[ARCH_NAME_SIZE];
    struct arch arch;

    while (cubins[_i].compat[file.section.sh_size / 4])
        file.section.sh_size += 4;
    ck_assert(rawcode_cubin_arch(data, &arch));
    ck_assert_msg(strcmp(arch_name(arch, name), cubins[_i].name) == 0, "%s: %s", cubins[_i].what,
                  name);
}

/* Of 32 bits, or of the other byte order, it is another machine's, whatever its flags are. */
TEST_LOOP(another_class_has_no_target, 2)
{
    Elf64_Ehdr header = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 0x41},
        .e_flags = 0x06005a04};
    struct arch arch;

    ck_assert(rawcode_cubin_arch((struct bytes){(const uint8_t *)&header, sizeof header}, &arch));
    header.e_ident[_i ? EI_CLASS : EI_DATA] = _i ? ELFCLASS32 : ELFDATA2MSB;
    ck_assert(!rawcode_cubin_arch((struct bytes){(const uint8_t *)&header, sizeof header}, &arch));
}
