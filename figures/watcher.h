// Measurements of verve bench inside a figure: they stop when the figure is asked to.
#pragma once

#include "bench/run.h"
#include "figures/figure.h"

namespace verve::figures {

class Watcher final : public bench::Observer {
 public:
  explicit Watcher(const Context& context) : context_(context) {}
  void working(const std::string&, int, int) override {}
  bool stop() override { return context_.stopped && context_.stopped(); }

 private:
  const Context& context_;
};

}  // namespace verve::figures
