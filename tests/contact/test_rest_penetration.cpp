// Contacts that a look finds deeper than the last step left them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "contact/rest_penetration.h"

using namespace verve;

namespace {

double energy(const Penetration& p) {
  const double depth = std::max(0.0, p.depth - p.rest);
  return 0.5 * p.stiffness * depth * depth;
}

double before(const Penetration& p) { return 0.5 * p.stiffness * p.pressed * p.pressed; }

}  // namespace

TEST_CASE("contacts found anew add no more energy than the budget, and all of it where that is enough") {
  for (int sample = 0; sample < 1000; ++sample) {
    std::vector<Penetration> contacts;
    double asked = 0;
    for (int i = 0; i < 5; ++i) {
      const auto random = [&](int stream) { return 0.5 + 0.5 * random_signed(stream, 5 * sample + i); };
      Penetration p{1e3 + 1e5 * random(1), 0.1 * random(2), i % 2 ? 0.05 * random(3) : 0, i % 3 ? 0.02 * random(4) : 0};
      asked += std::max(0.0, energy(p) - before(p));
      contacts.push_back(p);
    }
    for (const double share : {0.0, 0.3, 1.001, 2.0}) {
      std::vector<Penetration> now = contacts;
      limit_new_energy(now, share * asked);
      double added = 0;
      for (size_t i = 0; i < now.size(); ++i) {
        added += std::max(0.0, energy(now[i]) - before(now[i]));
        CHECK(now[i].rest >= contacts[i].rest - 1e-15);  // it never lets out more than was asked for
        CHECK(now[i].rest <= std::max(contacts[i].rest, contacts[i].depth));
        if (share >= 1) CHECK(now[i].rest == contacts[i].rest);
      }
      CHECK(added == doctest::Approx(std::min(share, 1.0) * asked).epsilon(1e-9));
    }
  }
}

TEST_CASE("a contact that is less deep than the last step left it is none of the budget's business") {
  std::vector<Penetration> contacts{{1e4, 0.01, 0.02, 0}, {1e4, 0, 0, 0.1}};
  limit_new_energy(contacts, 0);
  CHECK(contacts[0].rest == 0);
  CHECK(contacts[1].rest == 0.1);
}
