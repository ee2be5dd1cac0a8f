/* signature.h: function prototypes as the short strings that the linker compares. */
#pragma once

#include "base/arena.h"
#include "base/text.h"

/* The string for the head of a function, ".func (...) name (...)", or for a ".callprototype", in
 * the arena: "#ii" for int (int). */
struct text signature_of(struct arena *arena, struct text head);
