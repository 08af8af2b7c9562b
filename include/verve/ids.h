// Names of what may come and go while a simulation runs.
#pragma once

#include <cstdint>

namespace verve {

/// A body, anchor, collider, wind or lasting force: its number, and which of those that have had this number one after another. What
/// has gone is refused by its id for ever, also when its number has been given away again. A plain number says: whoever
/// has it now. As a whole number (`bits`, c.h) the generation is above the number.
template <class Of>
class Id {
 public:
  static constexpr int number_bits = 20;
  static constexpr int most_numbers = 1 << number_bits, most_generations = 1 << 11;  // of each number: below that

  constexpr Id(std::int32_t bits = -1) : bits_(bits) {}
  constexpr Id(int number, int generation) : bits_(generation << number_bits | number) {}
  constexpr int number() const { return bits_ < 0 ? -1 : bits_ & (most_numbers - 1); }
  constexpr int generation() const { return bits_ < 0 ? 0 : bits_ >> number_bits; }  ///< from 1 on; 0: any
  constexpr std::int32_t bits() const { return bits_; }
  constexpr operator int() const { return number(); }
  friend constexpr bool operator==(Id a, Id b) { return a.bits_ == b.bits_; }
  friend constexpr bool operator==(Id a, int number) { return a.number() == number; }

 private:
  std::int32_t bits_;
};

using BodyId = Id<struct BodyTag>;
using AnchorId = Id<struct AnchorTag>;
using ColliderId = Id<struct ColliderTag>;
using WindId = Id<struct WindTag>;
using ForceId = Id<struct ForceTag>;

}  // namespace verve
