/* mercury_write.h: what the image has for Mercury's sake beside the twins (mercury.h). */
#pragma once

#include "merge/merging.h"

/* Adds info sections and the symbol table. Comes after attributes_add_sections. */
void mercury_write_add_sections(struct merging *m);

/* Writes the numbers of code sections into the twins of the code. */
void mercury_write_encode(struct merging *m);

/* Writes the symbol table into the image, when all sections and .strtab's other names are there. */
void mercury_write_encode_symbols(struct merging *m);

/* The image's section whose bytes are the twin's too, or 0 (measured: they stand in the file once).
 */
uint32_t mercury_write_shared(const struct merging *m, const struct merged_section *section);

/* sh_info and sh_link of a twin. */
uint32_t mercury_write_info(const struct merging *m, const struct merged_section *section);
uint32_t mercury_write_link(const struct merging *m, const struct merged_section *section);
