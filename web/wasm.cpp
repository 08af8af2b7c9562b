// The session in a worker of the browser (worker.js): the same as behind a socket.
#include <emscripten/emscripten.h>

#include <string>

#include "live/session.h"

EM_JS(void, give_text, (const char* text), { Module.onText(UTF8ToString(text)); })
EM_JS(void, give_frame, (const char* bytes, int size), { Module.onFrame(HEAPU8.slice(bytes, bytes + size).buffer); })

namespace {

int threads = 1;

verve::live::Session& session() {
  static verve::live::Session one({.threads = threads});
  return one;
}

void give(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) give_text(text.c_str());
}

}  // namespace

extern "C" {

/// Before anything else: on how many threads. More than one takes shared memory.
EMSCRIPTEN_KEEPALIVE void verve_threads(int count) { threads = count; }
EMSCRIPTEN_KEEPALIVE void verve_handle(const char* message) { give(session().handle(message)); }
EMSCRIPTEN_KEEPALIVE bool verve_running() { return session().running(); }
EMSCRIPTEN_KEEPALIVE double verve_interval() { return session().interval(); }
EMSCRIPTEN_KEEPALIVE void verve_advance() { give(session().advance()); }
EMSCRIPTEN_KEEPALIVE bool verve_take_changed() { return session().take_changed(); }
EMSCRIPTEN_KEEPALIVE void verve_frame() {
  const std::string bytes = session().frame();
  give_frame(bytes.data(), int(bytes.size()));
}
}
