/* plugin.h: an assembler that a shared object brings, minilink-assembler(3). */
#pragma once

#include <stdbool.h>

#include "minilink/assembler.h"

/* Loads `path` (with no slash in it, the loader's search path counts) and copies the assembler that
 * it exports to *table; names and state in it belong to the library, which *library stands for.
 * False, and a fatal diagnostic, when it cannot be loaded, exports none, or has another ABI. */
bool plugin_open(const char *path, void **library, struct minilink_assembler *table);

/* Unloads it. Accepts NULL. */
void plugin_close(void *library);
