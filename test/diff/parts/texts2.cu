#define UNIT 2
#include "texts.cu"
