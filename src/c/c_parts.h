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

#include "verve/scene_file.h"
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

/// Warnings and notes go to the log.
void report(const verve::Diagnostics& notes);

inline verve_status refuse(const verve::Diagnostics& problems) { return fail(VERVE_BAD_INPUT, problems.text()); }

inline Vec3 vector(const double* v, const char* what) {
  if (!v) throw std::invalid_argument(std::string(what) + ": found null, expected three numbers");
  return {v[0], v[1], v[2]};
}

inline const char* required(const char* text, const char* what) {
  if (!text) throw std::invalid_argument(std::string(what) + ": found null, expected a text");
  return text;
}

/// A piece of a scene as JSON text, in its list `key`. What it acts on is for the simulation to look for.
template <class Spec>
verve::Expected<Spec> parsed(const char* text, const char* function, const char* key,
                             std::vector<Spec> verve::Scene::* list, const std::string& body) {
  const std::string scene = "{\"version\": 1, \"bodies\": [{\"name\": \"" + body +
                            "\", \"mesh\": {\"generator\": \"box\"}}], \"" + key + "\": [" +
                            required(text, function) + "]}";
  const verve::Expected<verve::Scene> read = verve::parse_scene(scene, key);
  if (!read) return read.diagnostics();
  return ((*read).*list).at(0);
}

/// As many as fit, and how many there are.
template <class Items>
void hand_over_numbers(const Items& items, int32_t* out, size_t capacity, size_t* count) {
  if (!count || (!out && capacity > 0)) throw std::invalid_argument("found null, expected a list and its length");
  *count = items.size();
  for (size_t i = 0; i < std::min(capacity, items.size()); ++i) out[i] = int32_t(items[i]);
}

/// A structure of the caller's, as far as it goes.
template <class T>
T taken(const T* given, const T& full) {
  T out = full;
  if (given) std::memcpy(static_cast<void*>(&out), given, std::min(given->struct_size, sizeof out));
  return out;
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
