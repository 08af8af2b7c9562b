#include "figures/figure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>

#include "figures/film.h"

namespace verve::figures {

void Result::at_most(const std::string& what, double value, double bound, const std::string& source,
                     const std::string& unit) {
  checks.push_back({what, with_unit(value, unit), "at most " + with_unit(bound, unit), source, value <= bound});
}

void Result::at_least(const std::string& what, double value, double bound, const std::string& source,
                      const std::string& unit) {
  checks.push_back({what, with_unit(value, unit), "at least " + with_unit(bound, unit), source, value >= bound});
}

void Result::between(const std::string& what, double value, double low, double high, const std::string& source,
                     const std::string& unit) {
  checks.push_back({what, with_unit(value, unit), "from " + with_unit(low, "") + " to " + with_unit(high, unit), source,
                    value >= low && value <= high});
}

void Result::holds(const std::string& what, bool passed, const std::string& measured, const std::string& bound,
                   const std::string& source) {
  checks.push_back({what, measured, bound, source, passed});
}

int Result::passed() const {
  return int(std::count_if(checks.begin(), checks.end(), [](const Check& c) { return c.passed; }));
}

std::shared_ptr<const Film> Context::shared(const std::string& key, const std::function<Film()>& make) {
  std::shared_ptr<Slot> slot;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Slot>& entry = slots_[key];
    if (!entry) entry = std::make_shared<Slot>();
    slot = entry;
  }
  const std::lock_guard lock(slot->mutex);  // who comes second waits for the first
  if (!slot->film) slot->film = std::make_shared<const Film>(make());
  return slot->film;
}

const Figure* find(const std::string& name) {
  for (const Figure& figure : registry())
    if (figure.name == name) return &figure;
  return nullptr;
}

Result make(const Figure& figure, Context& context) {
  Result result;
  const auto begin = std::chrono::steady_clock::now();
  try {
    figure.make(context, result);
  } catch (const std::exception& error) {
    result.holds("runs to its end", false, error.what(), "no failure", "");
  }
  if (result.checks.empty()) result.holds("measures something", false, "nothing", "at least one check", "");
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace verve::figures
