// Registries that programs add to (verve/plugin.h).
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "verve/diagnostics.h"

namespace verve {

struct Registered;
/// registered(), to be added to.
Registered& registry_of_plugins();

/// Entries that programs may add to each registry: room for them is kept, so that what points to an entry goes on doing so.
inline constexpr int most_plugins = 128;

/// The entries that are there from the start, with room for more.
template <class Entry>
std::vector<Entry> growable(std::vector<Entry> entries, size_t more = most_plugins) {
  entries.reserve(entries.size() + more);
  return entries;
}

/// A list that follows a registry: `make` of every entry that has come since. The list is what was made so far.
template <class List, class Entries, class Make>
const List& following(List& list, std::mutex& mutex, const Entries& entries, Make&& make) {
  const std::lock_guard lock(mutex);
  for (size_t k = list.size(); k < entries.size(); ++k) list.push_back(make(entries[k]));
  return list;
}

/// Errors for a name that is none or is taken.
inline void check_plugin_name(const char* function, const std::string& name, bool taken, size_t registered,
                              Diagnostics& out) {
  bool good = !name.empty();
  for (const char c : name) good = good && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_');
  if (!good) out.error(function, "found name \"" + name + "\", expected lower case letters, digits and underscores");
  if (taken) out.error(function, "found name \"" + name + "\", which is taken, expected another");
  if (registered >= size_t(most_plugins))
    out.error(function, "found " + std::to_string(registered) + " registered, expected at most " +
                            std::to_string(most_plugins));
}

}  // namespace verve
