// The loop over patches: elements of one kind, each over any number of vertices. Read by block_loop.h.
//
// A kernel over patches is a header like those over elements (kernel.h), in a file called NAME_patch.h. In its struct:
//   patch = true
//   Element<T>                   what is known of a patch: members of type T only
//   Corner<T>                    what is known of one of its vertices, likewise
//   Sum<T>                       what is added up over the vertices, zero to begin with
//   add(sum, corner, d)          takes in one vertex, d its difference to the first; the first one itself is not visited
//   solve(element, sum)          makes of the sums what the vertices need, and returns a part of the energy
//   pull(element, sum, corner, d, g)  g = dPsi/dx of a vertex; returns a part of the energy
//   first_counts                 whether pull is to be asked for the energy at the first vertex
// The first vertex gives what the others get: the forces of a patch sum to zero.
#if defined(VERVE_PATCH_LOOP_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VERVE_PATCH_LOOP_H
#undef VERVE_PATCH_LOOP_H
#else
#define VERVE_PATCH_LOOP_H
#endif

VERVE_NAMESPACE_BEGIN

template <class Kernel>
inline constexpr bool is_patch = requires { Kernel::patch; };

template <class Kernel>
inline constexpr int corner_fields = int(sizeof(typename Kernel::template Corner<double>) / sizeof(double));

/// Patches of which all have range.corner_count vertices. Those that have fewer repeat their first one, with zeros for
/// what is known of it. [block][fields of the element, then those of each vertex][16].
template <class Kernel, class T, bool WithGradient, bool Whole>
VERVE_NOINLINE VERVE_FLATTEN double run_patches(const BlockRange& range, [[maybe_unused]] double unit) {
  using F = typename LaneOf<T>::Type;
  using Corner = typename Kernel::template Corner<T>;
  constexpr int fields = element_fields<Kernel>, per_corner = corner_fields<Kernel>;
  const int n = range.corner_count, stride = (fields + n * per_corner) * block_size;
  const F* block = static_cast<const F*>(range.elements);
  const std::uint16_t* corner = range.corners;
  Vec3T<T> d[most_patch_corners];
  d[0] = {T(0), T(0), T(0)};
  LaneSum total;
  for (int left = range.count; left > 0; left -= block_size, block += stride) {
    for (int l = 0; l < block_size && l < left; l += lanes<T>, corner += lanes<T> * n) {
      const auto corner_of = [&](int i) {
        return load_fields<Corner, T>(block + (fields + i * per_corner) * block_size + l);
      };
      typename Kernel::template Sum<T> sum{};
      if constexpr (Whole) {
        const std::int32_t* copies = reinterpret_cast<const std::int32_t*>(range.copies);
        const WholeRows<T> first([&](int lane) { return copies + corner[lane * n]; });
        for (int i = 1; i < n; ++i) {
          const WholeRows<T> next([&](int lane) { return copies + corner[lane * n + i]; });
          d[i] = next.minus(first) * T(unit);
          Kernel::add(sum, corner_of(i), d[i]);
        }
      } else {
        const auto first = collect<lanes<T>>([&](auto lane) { return Row::load(range.copies + corner[lane * n]); });
        for (int i = 1; i < n; ++i) {
          const auto away = collect<lanes<T>>(
              [&](auto lane) { return Row::load(range.copies + corner[lane * n + i]) - first[lane]; });
          d[i] = Rows<T>::join(away.data());
          Kernel::add(sum, corner_of(i), d[i]);
        }
      }
      const auto e = load_element<Kernel, T>(block + l);
      T energy = Kernel::solve(e, sum);
      const int count = left - l < lanes<T> ? left - l : lanes<T>;
      Vec3T<T> g;
      if constexpr (Kernel::first_counts) energy = energy + Kernel::pull(e, sum, corner_of(0), d[0], g);
      if constexpr (WithGradient || Kernel::first_counts) {
        Row given[lanes<T>] = {};
        for (int i = 1; i < n; ++i) {
          energy = energy + Kernel::pull(e, sum, corner_of(i), d[i], g);
          if constexpr (WithGradient) {
            const Rows<T> rows(g);
            unroll<lanes<T>>([&](auto lane) {
              if (lane >= count) return;
              double* to = range.gradient + corner[lane * n + i];
              const Row row = rows.row(lane);
              given[lane] = given[lane] + row;
              (Row::load(to) + row).store(to);
            });
          }
        }
        if constexpr (WithGradient) {
          unroll<lanes<T>>([&](auto lane) {
            if (lane >= count) return;
            double* to = range.gradient + corner[lane * n];
            (Row::load(to) - given[lane]).store(to);
          });
        }
      }
      total.add(count == lanes<T> ? energy : first_lanes(energy, count));
    }
  }
  return total.total();
}

VERVE_NAMESPACE_END

#endif
