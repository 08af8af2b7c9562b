// What all functions of the C interface share: how errors go out, and how structures are handed over.
#pragma once

#include "verve/c.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "verve/simulation.h"

struct verve_simulation {
  verve::Simulation simulation;
  std::string text;  // of the last verve_scene_json
};

struct verve_snapshot {
  verve::Snapshot snapshot;
};

namespace verve_c {

using verve::Vec3;

/// Why the last call of this thread failed.
inline thread_local std::string last_error;

inline verve_status fail(verve_status status, const std::string& why) noexcept {
  try {
    last_error = why;
    while (!last_error.empty() && last_error.back() == '\n') last_error.pop_back();
  } catch (...) {  // no memory for the text
    last_error.clear();
  }
  return status;
}

/// What goes wrong inside becomes a status.
template <class Call>
verve_status guarded(Call&& call) noexcept {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Call>>) {
      call();
      return VERVE_OK;
    } else {
      return call();
    }
  } catch (const std::bad_alloc&) {
    return fail(VERVE_NO_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return fail(VERVE_MISUSE, error.what());
  } catch (...) {
    return fail(VERVE_MISUSE, "an exception that is no std::exception");
  }
}

/// A call on a simulation that is there.
template <class Simulation, class Call>
verve_status on(Simulation* simulation, Call&& call) noexcept {
  if (!simulation) return fail(VERVE_MISUSE, "found null, expected a simulation");
  return guarded([&] { return call(simulation->simulation); });
}

inline verve_status refuse(const verve::Diagnostics& problems) { return fail(VERVE_BAD_INPUT, problems.text()); }

inline Vec3 vector(const double* v, const char* what) {
  if (!v) throw std::invalid_argument(std::string(what) + ": found null, expected three numbers");
  return {v[0], v[1], v[2]};
}

inline const char* required(const char* text, const char* what) {
  if (!text) throw std::invalid_argument(std::string(what) + ": found null, expected a text");
  return text;
}

inline bool has_body(const verve_simulation* s, int32_t body) { return s && s->simulation.has_body(body); }

/// Fills as much of the caller's structure as he knows of.
template <class T>
void hand_over(const T& full, T* out) {
  const size_t size = std::min(out->struct_size, sizeof(T));
  const size_t given = out->struct_size;
  std::memcpy(static_cast<void*>(out), &full, size);
  out->struct_size = given;
}

inline void set(double* out, const Vec3& v) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }

inline void require_room(const void* out, size_t capacity, size_t wanted) {
  if (!out && wanted > 0) throw std::invalid_argument("found null, expected memory for the vectors");
  if (capacity < wanted)
    throw std::invalid_argument("found room for " + std::to_string(capacity) + " vectors, expected " +
                                std::to_string(wanted));
}

/// Vectors of a simulation, by one of its read_...() functions.
template <class Read>
void write(size_t wanted, const void* out, size_t count, Read&& read) {
  require_room(out, count, wanted);
  if (wanted > 0) read();
}

template <class T>
T with_size() {
  T out{};
  out.struct_size = sizeof(T);
  return out;
}

}  // namespace verve_c
