/* trial.h: what tool_damage makes of inputs, one kind of making each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "facts/targets.h"
#include "base/memory.h"
#include "base/text.h"

#define TRIAL_MOST 128

/* The inputs, one of them changed, and what was made of them. */
struct trial {
    bool (*make)(struct trial *trial);
    const char *options;
    const char *names[TRIAL_MOST];
    struct text inputs[TRIAL_MOST];
    size_t count;
    struct text words;  /* that take the place of others */
    const char *frame;  /* in which the first input is one line, or NULL */
    struct text target; /* "sm_80: " in front of that, or nothing */
    struct arch arch;   /* of the first input */
    struct buffer made; /* from them: what its sum is taken of */
    bool is_made;
};

/* What is made is only summed up: numbers stand in it as they are, which to print takes longer than
 * to make it. */
#define TRIAL_ADD_NUMBERS(out, ...)                                                                \
    buffer_append(out, (const uint64_t[]){__VA_ARGS__}, sizeof(const uint64_t[]){__VA_ARGS__})

static inline void trial_add_text(struct buffer *out, struct text text)
{
    buffer_u64(out, text.size);
    buffer_text(out, text);
}

/* Each makes what the options say of the inputs, and appends what came out to trial->made: true; or
 * false, when the inputs are refused. Messages are collected by the caller. */

/* Of cubins (cubins.c). */
bool trial_merge(struct trial *trial);
bool trial_join(struct trial *trial);
bool trial_exact(struct trial *trial);

/* Of PTX (texts.c). */
bool trial_split(struct trial *trial);
bool trial_parts(struct trial *trial);
bool trial_assemble(struct trial *trial);

/* Of whatever is an input of a link (inputs.c). */
bool trial_read(struct trial *trial);
