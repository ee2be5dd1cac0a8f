/* emit_note.c: who made the cubin.
 *
 * The two notes that every cubin has, and one of our own, by which tools can tell that the code in
 * it is not NVIDIA's: .note.minilink, owner "minilink". Its descriptor is the version of the
 * encoding (minilink-cubin(5)) and the assembler's name. */
#include "toy/emit.h"

#include <stdio.h>

#include "toy/builtin.h"

#define OWNER_NVIDIA     "NVIDIA Corp"
#define OWNER_MINILINK   "minilink"
#define TYPE_TOOL        2000u
#define TYPE_CUDA        1000u
#define TYPE_ENCODING    1u
#define NOTE_VERSION     2u
#define CUDA_VERSION     130u /* 10 * major + minor */
#define ENCODING_VERSION 1u

/* Everything in front of a note's descriptor. */
static void put_head(struct buffer *out, const char *owner, uint32_t type, size_t size)
{
    buffer_u32(out, (uint32_t)strlen(owner) + 1);
    buffer_u32(out, (uint32_t)size);
    buffer_u32(out, type);
    buffer_append(out, owner, strlen(owner) + 1);
    buffer_align(out, 4);
}

/* Version 2; offsets of five strings in what follows: output name, tool, its version, its build,
 * the command line. */
void emit_note_tool(const struct unit *unit, struct buffer *out)
{
    char command[64];
    snprintf(command, sizeof command, "-arch %.32s -c ", unit->job->arch);
    const char *strings[] = {"", builtin_assembler.name, builtin_assembler.version, "minilink",
                             command};
    size_t count = sizeof strings / sizeof *strings;
    uint32_t offset = 0;
    size_t size = 4 + 4 * count;
    for (size_t i = 0; i < count; i++)
        size += strlen(strings[i]) + 1;
    put_head(out, OWNER_NVIDIA, TYPE_TOOL, (size + 3) / 4 * 4);
    buffer_u32(out, NOTE_VERSION);
    for (size_t i = 0; i < count; i++) {
        buffer_u32(out, offset);
        offset += (uint32_t)strlen(strings[i]) + 1;
    }
    for (size_t i = 0; i < count; i++)
        buffer_append(out, strings[i], strlen(strings[i]) + 1);
    buffer_align(out, 4);
}

/* Version, architecture, CUDA version, padding: halves of words. */
void emit_note_cuda(const struct unit *unit, struct buffer *out)
{
    put_head(out, OWNER_NVIDIA, TYPE_CUDA, 8);
    buffer_u32(out, NOTE_VERSION | (unit->job->sm & 0xffffu) << 16);
    buffer_u32(out, CUDA_VERSION);
}

void emit_note_builtin(struct buffer *out)
{
    const char *name = builtin_assembler.name;
    put_head(out, OWNER_MINILINK, TYPE_ENCODING, 4 + strlen(name) + 1);
    buffer_u32(out, ENCODING_VERSION);
    buffer_append(out, name, strlen(name) + 1);
    buffer_align(out, 4);
}
