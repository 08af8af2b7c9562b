#include "interrupt.h"

#include <signal.h>

namespace verve::cli {

namespace {

volatile sig_atomic_t arrived = 0;
int guards = 0;
struct sigaction previous_int, previous_term, previous_hup;

extern "C" void note_signal(int number) { arrived = number; }

void take_over(int number, struct sigaction& previous) {
  // Also where it was ignored: a script's background job should still stop cleanly when it is asked to.
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, &previous);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  if (guards++ > 0) return;
  arrived = 0;
  take_over(SIGINT, previous_int);
  take_over(SIGTERM, previous_term);
  sigaction(SIGHUP, nullptr, &previous_hup);
  if (previous_hup.sa_handler != SIG_IGN) take_over(SIGHUP, previous_hup);  // not under nohup
}

InterruptGuard::~InterruptGuard() {
  if (--guards > 0) return;
  sigaction(SIGINT, &previous_int, nullptr);
  sigaction(SIGTERM, &previous_term, nullptr);
  sigaction(SIGHUP, &previous_hup, nullptr);
}

int InterruptGuard::signal() { return arrived; }

}  // namespace verve::cli
