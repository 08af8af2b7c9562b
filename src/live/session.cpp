// A session from frame to frame. Messages are read in messages.cpp, what the page is told is in session_tell.cpp.
#include "live/session.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace verve::live {

namespace {

/// Rows of metrics kept for a page that draws nothing: twenty minutes of it.
constexpr size_t most_rows = 36000;

}  // namespace

Session::Session(const RunOptions& options) : options_(options) {}

bool Session::running() const {
  if (lanes_.empty() || (paused_ && pending_steps_ == 0)) return false;
  return std::any_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return !lane->failed; });
}

double Session::interval() const { return lanes_.empty() ? 0.1 : lanes_[0]->simulation->scene().step / speed_; }

bool Session::take_changed() { return std::exchange(changed_, false); }

std::vector<std::string> Session::advance() {
  std::vector<std::string> out;
  if (!running()) return out;
  if (pending_steps_ > 0) --pending_steps_;
  move_hands();
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = *lanes_[i];
    if (lane.failed) continue;
    pull(i);
    lane.report = lane.simulation->step();
    if (!lane.report && calming_ == 0) {
      lane.failed = true;
      tell_stopped(i, out);
    } else if (lane.report.torn > 0) {
      tell_elements(int(i), out);
    }
    if (!lane.failed) watch(i, out);
  }
  if (calming_ > 0 && calm_frame()) {
    touched();
    tell_state();
    out.insert(out.end(), std::make_move_iterator(answers_.begin()), std::make_move_iterator(answers_.end()));
    answers_.clear();
  }
  tell_supports(out);
  if (rows_.size() >= most_rows) rows_.erase(rows_.begin(), rows_.begin() + most_rows / 2);
  rows_.push_back(row());
  return out;
}

void Session::restart() {
  remember("the restart");
  drop_hands();
  rows_.clear();
  for (size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i]->simulation->reset();
    lanes_[i]->failed = false, lanes_[i]->report = {}, lanes_[i]->watch = {};
    turned_.held.clear();
    apply_turned(*lanes_[i]);
    tell_elements(int(i), answers_);
  }
  tell_state();
  changed_ = true;
}

}  // namespace verve::live
