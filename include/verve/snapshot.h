// Everything that a simulation remembers from frame to frame, as a value: in memory for going back, in a file for going
// on another day.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "verve/diagnostics.h"

namespace verve {

/// Simulation::save. Restored and stepped, a simulation goes on as if it had never been stopped, bit for bit
/// (docs/snapshots.md). Copies share what they hold.
class Snapshot {
 public:
  int frame() const;
  double time() const;
  /// Bodies that were added with a function of the program (PotentialSpec::formula, law), which no file can have: those
  /// of the scene are no part of a snapshot, and those registered by a name (plugin.h) are written by that. One error
  /// each; in memory such snapshots are as good as others. And a note for each file that one of them names.
  Diagnostics unwritable() const;
  /// As bytes that another process of the same machine type reads; `where` names them in messages. Throws
  /// std::invalid_argument with the text of unwritable() where that has errors.
  std::vector<unsigned char> bytes() const;
  static Expected<Snapshot> from_bytes(const std::vector<unsigned char>& bytes, const std::string& where);

 private:
  friend class Simulation;
  struct Content;
  explicit Snapshot(std::shared_ptr<const Content> content) : content_(std::move(content)) {}
  std::shared_ptr<const Content> content_;
};

/// Written beside its place and then moved there: a file is whole or as it was. Errors of unwritable() as well.
Diagnostics write_snapshot(const std::filesystem::path& path, const Snapshot& snapshot);
Expected<Snapshot> read_snapshot(const std::filesystem::path& path);

}  // namespace verve
