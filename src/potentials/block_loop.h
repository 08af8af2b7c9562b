// The loop over elements that are alike: gather, kernel, scatter. Read by kernel.h, plainly and once per set of
// instructions. That over patches, whose elements have any number of vertices, is in patch_loop.h.
#if defined(VERVE_BLOCK_LOOP_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VERVE_BLOCK_LOOP_H
#undef VERVE_BLOCK_LOOP_H
#else
#define VERVE_BLOCK_LOOP_H
#endif

VERVE_NAMESPACE_BEGIN

/// Fields of an element, and of a block of them.
template <class Kernel>
inline constexpr int element_fields = int(sizeof(typename Kernel::template Element<double>) / sizeof(double));

/// A struct of T only, from fields side by side.
template <class Struct, class T>
Struct load_fields(const typename LaneOf<T>::Type* block) {
  constexpr int fields = int(sizeof(Struct) / sizeof(T));
  static_assert(std::is_trivially_copyable_v<Struct> && sizeof(Struct) == fields * sizeof(T), "consists of T only");
  return std::bit_cast<Struct>(collect<fields>([&](auto f) { return load_lanes<T>(block + f * block_size); }));
}

template <class Kernel, class T>
typename Kernel::template Element<T> load_element(const typename LaneOf<T>::Type* block) {
  return load_fields<typename Kernel::template Element<T>, T>(block);
}

/// Differences of the stencils' vertices to their first, taken in double.
template <class T, int Vertices>
Columns<T, Vertices - 1> gather(const double* x, const std::uint16_t* corner) {
  const auto first = collect<lanes<T>>([&](auto l) { return Row::load(x + corner[l * Vertices]); });
  return collect<Vertices - 1>([&](auto i) {
    const auto d = collect<lanes<T>>([&](auto l) { return Row::load(x + corner[l * Vertices + i + 1]) - first[l]; });
    return Rows<T>::join(d.data());
  });
}

/// The same from copies in whole numbers of `unit`.
template <class T, int Vertices>
Columns<T, Vertices - 1> gather_whole(const std::int32_t* x, const std::uint16_t* corner, T unit) {
  const WholeRows<T> first([&](int l) { return x + corner[l * Vertices]; });
  return collect<Vertices - 1>([&](auto i) {
    const WholeRows<T> next([&](int l) { return x + corner[l * Vertices + i + 1]; });
    return next.minus(first) * unit;
  });
}

/// A^T dz for all vertices but the first, as rows.
template <class Kernel, class T>
void corner_rows(const typename Kernel::template Element<T>& e, const Columns<T, Kernel::rows>& dz, Rows<T>* rows) {
  unroll<Kernel::vertices - 1>([&](auto i) {
    Vec3T<T> g = dz[0] * e.coefficient(0, i);
    unroll<Kernel::rows - 1>([&](auto r) { g = add_scaled(g, dz[r + 1], e.coefficient(r + 1, i)); });
    rows[i] = Rows<T>(g);
  });
}

/// Adds the rows of `count` elements to those of their vertices, element after element, in double. The first vertex
/// gives what the others get: the forces of an element sum to zero.
template <class T, int Vertices>
void scatter(const Rows<T>* rows, const std::uint16_t* corner, int count, double* gradient) {
  unroll<lanes<T>>([&](auto l) {
    if (l >= count) return;
    const std::uint16_t* at = corner + l * Vertices;
    Row sum = rows[0].row(l);
    (Row::load(gradient + at[1]) + sum).store(gradient + at[1]);
    unroll<Vertices - 2>([&](auto i) {
      const Row g = rows[i + 1].row(l);
      sum = sum + g;
      (Row::load(gradient + at[i + 2]) + g).store(gradient + at[i + 2]);
    });
    (Row::load(gradient + at[0]) - sum).store(gradient + at[0]);
  });
}

/// Copies the rows of a range in whole numbers of a power of two, which is returned; zero when that is not fine enough.
/// Copies of half the size whose differences need no narrowing: as good as differences in double, narrowed to 24 bits,
/// where a unit is below 2^-23 of the shortest distance. Chunks are compact, so it nearly always is.
VERVE_INLINE double copy_whole(const BlockRange& range) {
  constexpr double most = 0x1p30 - 1;  // the difference of two fits into 32 bits
  const Row origin = Row::load(range.x + 4 * size_t(range.middle));
  std::int32_t* copies = reinterpret_cast<std::int32_t*>(range.copies);
  double unit = range.unit;
  while (unit <= range.coarsest) {
    const double scale = 1 / unit;
    Row largest{}, sum{};
    for (int r = 0; r < range.row_count; ++r) {
      const Row d = (Row::load(range.x + 4 * size_t(range.rows[r])) - origin) * scale;
      largest = larger_size(largest, d);
      sum = sum + d;  // shows what a comparison does not: NaN
      d.store_whole(copies + 4 * r);
    }
    alignas(32) double size[4] = {}, check[4] = {};
    largest.store(size), sum.store(check);
    const double extent = max(max(size[0], size[1]), size[2]);
    if (!std::isfinite(check[0] + check[1] + check[2])) return 0;
    if (extent <= most) return unit;
    for (const double reach = extent * unit; unit <= range.coarsest && reach > most * unit;) unit *= 2;
  }
  return 0;
}

/// Everything inlined: a call would send the packs through memory. The gradients of a pack are written after the next
/// one has been read: the kernels are chains of dependent operations, and that gives the processor something to do in
/// between. (Two packs at once have enough to do, and no register to keep gradients in.) `unit` of whole numbers, zero
/// for copies in double.
template <class Kernel, class T, bool WithGradient, bool Whole>
VERVE_NOINLINE VERVE_FLATTEN double run_elements(const BlockRange& range, [[maybe_unused]] double unit) {
  using F = typename LaneOf<T>::Type;
  constexpr int vertices = Kernel::vertices;
  constexpr bool at_once = requires { typename T::Half; };
  const F* block = static_cast<const F*>(range.elements);
  const std::uint16_t* corner = range.corners;
  [[maybe_unused]] const std::uint16_t* last_corner = corner;
  Rows<T> last_rows[vertices - 1];
  [[maybe_unused]] int last_count = 0;
  LaneSum sum;
  for (int left = range.count; left > 0; left -= block_size, block += element_fields<Kernel> * block_size) {
    for (int l = 0; l < block_size && l < left; l += lanes<T>, corner += lanes<T> * vertices) {
      const auto d = [&] {
        if constexpr (Whole) {
          return gather_whole<T, vertices>(reinterpret_cast<const std::int32_t*>(range.copies), corner, T(unit));
        } else {
          return gather<T, vertices>(range.copies, corner);
        }
      }();
      const auto e = load_element<Kernel, T>(block + l);
      const Columns<T, Kernel::rows> z = reduce<Kernel, T>(e, d.data());
      const int count = left - l < lanes<T> ? left - l : lanes<T>;
      T energy;
      if constexpr (WithGradient) {
        if constexpr (!at_once) scatter<T, vertices>(last_rows, last_corner, last_count, range.gradient);
        Columns<T, Kernel::rows> dz = z;
        energy = energy_and_gradient<Kernel, T>(e, z, dz);
        corner_rows<Kernel, T>(e, dz, last_rows);
        if constexpr (at_once)
          scatter<T, vertices>(last_rows, corner, count, range.gradient);
        else
          last_corner = corner, last_count = count;
      } else {
        energy = energy_alone<Kernel, T>(e, z);
      }
      sum.add(count == lanes<T> ? energy : first_lanes(energy, count));
    }
  }
  if constexpr (WithGradient && !at_once) scatter<T, vertices>(last_rows, last_corner, last_count, range.gradient);
  return sum.total();
}

VERVE_NAMESPACE_END

#include "potentials/patch_loop.h"

VERVE_NAMESPACE_BEGIN

template <class Kernel, class T, bool WithGradient, bool Whole>
double run_any(const BlockRange& range, double unit) {
  if constexpr (is_patch<Kernel>) {
    return run_patches<Kernel, T, WithGradient, Whole>(range, unit);
  } else {
    return run_elements<Kernel, T, WithGradient, Whole>(range, unit);
  }
}

/// Copies of the rows, the elements, and back what no other chunk has a part in.
template <class Kernel, class T, bool WithGradient>
VERVE_FLATTEN double run_blocks(const BlockRange& range) {
  if constexpr (WithGradient) {
    const Row zero{};
    for (int r = 0; r < range.row_count; ++r) zero.store(range.gradient + 4 * r);
  }
  const auto row = [&](auto* rows, int r) { return rows + 4 * size_t(range.rows[r]); };
  double energy = 0;
  const double unit = sizeof(typename LaneOf<T>::Type) == sizeof(float) ? copy_whole(range) : 0;
  if constexpr (sizeof(typename LaneOf<T>::Type) == sizeof(float)) {
    if (unit > 0) energy = run_any<Kernel, T, WithGradient, true>(range, unit);
  }
  if (unit == 0) {
    for (int r = 0; r < range.row_count; ++r) Row::load(row(range.x, r)).store(range.copies + 4 * r);
    energy = run_any<Kernel, T, WithGradient, false>(range, unit);
  }
  if constexpr (WithGradient) {
    for (int r = 0; r < range.own; ++r) {
      double* to = row(range.x_gradient, r);
      (Row::load(to) + Row::load(range.gradient + 4 * r)).store(to);
    }
  }
  return energy;
}

VERVE_NAMESPACE_END

#include "potentials/relax_loop.h"

#ifdef VERVE_PACKS
VERVE_NAMESPACE_BEGIN

/// What gradients in double are computed with. As WebAssembly two packs at once where the kernel says that it pays:
/// that is as much code again.
#if HWY_TARGET == HWY_WASM
template <class Kernel>
inline constexpr bool has_long_chain = requires {
  Kernel::long_chain;
};
template <class Kernel>
using GradientPack = std::conditional_t<has_long_chain<Kernel>, Twin, Pack<double>>;
#else
template <class Kernel>
using GradientPack = Pack<double>;
#endif

VERVE_NAMESPACE_END
#else
namespace verve {

template <class Kernel>
const BlockLoops& plain_loops() {
  static constexpr BlockLoops loops{"plain",
                                    run_blocks<Kernel, double, true>,
                                    run_blocks<Kernel, double, false>,
                                    run_blocks<Kernel, float, true>,
                                    run_blocks<Kernel, float, false>,
                                    relax_elements<Kernel, double>};
  return loops;
}

}  // namespace verve
#endif

#endif
