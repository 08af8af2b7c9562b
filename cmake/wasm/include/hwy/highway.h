// Found before Google Highway's own header in the WebAssembly build, and followed by what that one lacks: doubles.
#ifndef VERVE_WASM_HIGHWAY_H
#define VERVE_WASM_HIGHWAY_H

#include_next <hwy/highway.h>

#if HWY_TARGET == HWY_WASM
#include "hwy/wasm_doubles.h"
#endif

#endif
