// What float kernels do about the few matrices whose nearest rotation they cannot compute in float.
#pragma once

namespace verve {

/// The nearest rotation to one matrix, in double. F and R have nine numbers each, column by column, `stride` apart.
void nearest_rotation_in_double(const float* F, float* R, int stride);

}  // namespace verve
