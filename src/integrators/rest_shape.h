// The rest shape of the bodies of an island.
#pragma once

#include <vector>

#include "model/model.h"

namespace verve {

struct RestShape {
  RestShape(const Model& model, const std::vector<int>& bodies);

  std::vector<Vec4> rows;  // each body about its centre of mass
  double size = 0;         // 1/2 sum m |rest|^2
  Mat3 second, inverse;    // sum m rest rest^T; of a sheet singular, and its inverse the pseudo-inverse
  int middle = 0;          // a row with mass near the middle; -1: another rank has it
};

}  // namespace verve
