// The live page over HTTP and its sessions over WebSockets, on the loopback interface alone unless it is asked for more.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "verve/diagnostics.h"
#include "verve/scene.h"

namespace verve::cli {

struct LiveServerOptions {
  int port = 0;  ///< 0: any that is free
  int threads = 0;
  bool lan = false;            ///< for other machines of the network too, to whom knows the token
  std::optional<Scene> scene;  ///< that a page shows when it opens; none: the page chooses
};

/// Serves until it is destroyed. Every connection has a session of its own.
class LiveServer {
 public:
  static Expected<LiveServer> start(const LiveServerOptions& options);
  LiveServer(LiveServer&&) noexcept;
  LiveServer& operator=(LiveServer&&) noexcept;
  ~LiveServer();
  int port() const;
  /// "http://127.0.0.1:8765/"; for the network that of this machine in it, with the token.
  std::string address() const;

 private:
  struct Impl;
  explicit LiveServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace verve::cli
