// verve serve: the live page, until it is interrupted.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "commands.h"
#include "flags.h"
#include "interrupt.h"
#include "verve/scene_file.h"
#include "verve/simulation.h"
#ifdef VERVE_SERVE
#include "live_server.h"
#include "qr_code.h"
#endif

namespace verve::cli {

#ifdef VERVE_SERVE

namespace {

constexpr int usual_port = 8765;

/// In the browser of the desktop, where there is one. What the browser says of itself stays out of the terminal.
void open_in_browser(const std::string& address) {
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
  const pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) {  // nobody waits for it
      if (!std::freopen("/dev/null", "w", stdout) || !std::freopen("/dev/null", "w", stderr)) _exit(1);
      execlp("xdg-open", "xdg-open", address.c_str(), static_cast<char*>(nullptr));
      _exit(1);
    }
    _exit(0);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

}  // namespace

int serve(const ServeOptions& options, Diagnostics problems) {
  LiveServerOptions server;
  const std::optional<int> port = read_whole("--port", options.port, 0, 65535, problems);
  server.threads = read_count("--threads", options.threads, problems).value_or(0);
  if (!options.scene.empty()) {
    Expected<Scene> scene = read_scene(options.scene);
    problems.append(scene.diagnostics());
    if (scene) {
      // compiled here once, so that what is wrong with it is said where it was given
      const Expected<Simulation> trial = Simulation::create(*scene, {.threads = server.threads});
      append_new(problems, trial.diagnostics());
      server.scene = std::move(*scene);
    }
  }
  if (problems.has_errors()) return refuse(problems, "nothing is served");
  report(problems);
  InterruptGuard guard;
  server.port = port.value_or(usual_port), server.lan = options.lan;
  Expected<LiveServer> running = LiveServer::start(server);
  if (!running && !port) server.port = 0, running = LiveServer::start(server);  // the usual one is taken
  if (!running) {
    report(running.diagnostics());
    return exit_failed;
  }
  std::printf("%s\n", running->address().c_str());
  std::fflush(stdout);
  if (options.lan)
    std::fprintf(stderr, "%sWhoever is in this network and has this address, or sees this picture, can open the page.\n",
                 qr_text(qr_code(running->address()), isatty(STDERR_FILENO)).c_str());
  if (isatty(STDOUT_FILENO)) std::fprintf(stderr, "Ctrl-C ends it.\n");
  if (options.open) open_in_browser(running->address());
  while (!InterruptGuard::signal()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return exit_done;
}

#else

int serve(const ServeOptions&, Diagnostics problems) {
  problems.error("serve", "this verve was built without the civetweb library, which serves pages");
  return refuse(problems, "nothing is served");
}

#endif

}  // namespace verve::cli
