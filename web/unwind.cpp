// The other side of a landing pad. The compiler's code tells the personality function where it is, and is told what to
// do, in `__wasm_lpad_context`. With threads the library of Emscripten 3.1.6 keeps one for each, but clang 14 looks for
// it at one address for all, so that nothing thrown was caught. Here it is one for all: two threads must not throw at
// the same moment, and chunks of parallel loops throw nothing but when memory has run out.
#include <unwind.h>
#include <cstdint>

extern "C" {

struct LandingPadContext {
  std::uintptr_t index, lsda;  // in
  std::uintptr_t selector;     // out
} __wasm_lpad_context;

_Unwind_Reason_Code __gxx_personality_wasm0(int version, _Unwind_Action actions,
                                            _Unwind_Exception_Class exception_class, _Unwind_Exception* exception,
                                            _Unwind_Context* context);

_Unwind_Reason_Code _Unwind_CallPersonality(void* exception) {
  auto* object = static_cast<_Unwind_Exception*>(exception);
  __wasm_lpad_context.selector = 0;
  return __gxx_personality_wasm0(1, _UA_CLEANUP_PHASE, object->exception_class, object,
                                 reinterpret_cast<_Unwind_Context*>(&__wasm_lpad_context));
}

_Unwind_Reason_Code _Unwind_RaiseException(_Unwind_Exception* exception) { __builtin_wasm_throw(0, exception); }

void _Unwind_DeleteException(_Unwind_Exception* exception) {
  if (exception->exception_cleanup) (*exception->exception_cleanup)(_URC_FOREIGN_EXCEPTION_CAUGHT, exception);
}

void _Unwind_SetGR(_Unwind_Context* context, int index, _Unwind_Word value) {
  if (index == 1) reinterpret_cast<LandingPadContext*>(context)->selector = value;
}
_Unwind_Word _Unwind_GetIP(_Unwind_Context* context) {
  return reinterpret_cast<LandingPadContext*>(context)->index + 2;  // the caller takes one off, and counts from one
}
void _Unwind_SetIP(_Unwind_Context*, _Unwind_Word) {}
void* _Unwind_GetLanguageSpecificData(_Unwind_Context* context) {
  return reinterpret_cast<void*>(reinterpret_cast<LandingPadContext*>(context)->lsda);
}
_Unwind_Ptr _Unwind_GetRegionStart(_Unwind_Context*) { return 0; }
}
