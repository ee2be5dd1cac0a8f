/* demangle.h: names of C++ functions as a person writes them. */
#ifndef MINILINK_BASE_DEMANGLE_H
#define MINILINK_BASE_DEMANGLE_H

#include "base/buffer.h"
#include "base/text.h"

/* Appends the name, demangled where it is that of a C++ function and the C++ runtime library is
 * there, else as it is. As nvlink prints it: "k1(int *)"; of the names that nvcc makes for static
 * functions (__nv_static_..._Z2k3Pi) only what the user wrote. */
void demangle(struct text name, struct buffer *out);

#endif
