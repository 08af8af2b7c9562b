// The grammar of scenes, written once: every key with its unit, range and meaning, bound to the member it fills.
// check_scene, the scene reader and writer, the JSON schema and the key table of docs/scenes.md all walk these tables.
// Defaults are those of the structs in verve/scene.h.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "verve/choices.h"
#include "verve/registry.h"
#include "verve/scene.h"

namespace verve {

/// Of gravity, along each axis [m/s^2]: a body falls 140 m in the first frame of 1/60 s. Beyond, numbers of the step have
/// no digits left for the deformation.
inline constexpr double strongest_gravity = 1e6;

/// Keys that belong to the file and not to the Scene.
struct FormatVersion {};
struct SchemaLink {};
/// The name of a preset, which the reader puts in place of what is not given (verve/material.h).
struct MaterialName {};
inline constexpr int scene_format_version = 1;

/// A whole number, or "auto" (0).
struct WholeOrAuto {
  int* value;
};

/// A value of an enum of verve/choices.h, or none of an optional one.
struct Choice {
  void* at;
  int (*get)(const void* at);             ///< its number; -1: none
  void (*set)(void* at, int number);
  const std::vector<std::string>& (*names)();
};

/// Where a key's value lives. Adding a type here makes every visitor ask for its case.
using Member = std::variant<
    FormatVersion, SchemaLink, MaterialName, WholeOrAuto, Choice, double*, std::optional<double>*, int*,
    std::optional<int>*, std::uint64_t*, bool*, std::string*, std::filesystem::path*, Vec3*, std::optional<Vec3>*,
    std::vector<int>*, std::vector<std::vector<int>>*, std::vector<Vec3>*, std::vector<std::array<int, 2>>*,
    std::vector<std::array<int, 3>>*, std::vector<std::array<int, 4>>*, std::optional<std::array<Vec3, 2>>*,
    std::optional<std::pair<Vec3, double>>*, Track<double>*, Track<Vec3>*, Track<bool>*, SolverSpec*, Selection*,
    std::optional<Selection>*, MeshSpec*, std::vector<MeshSpec>*, std::vector<PoseSpec>*, Placement*, InitialState*,
    Dials*, std::shared_ptr<const Mesh>*, std::vector<BodySpec>*, std::vector<PotentialSpec>*, std::vector<AnchorSpec>*,
    std::vector<ForceSpec>*, std::vector<PushSpec>*, std::vector<WindSpec>*, std::optional<MeshSpec>*,
    std::vector<ColliderSpec>*, std::optional<ContactSpec>*, std::vector<ContactPairSpec>*>;

struct Key {
  ParameterInfo info;                                      ///< name, unit, help, range; optional: null = not given
  bool required = false;                                   ///< in files
  const std::vector<std::string>& (*choices)() = nullptr;  ///< of a text
  const std::vector<std::string>& (*also)() = nullptr;     ///< further ones, too many to list
  std::string also_words;                                  ///< what those are
  Member (*member)(void* owner) = nullptr;
};

/// The keys of T, in the order in which they are written.
template <class T>
const std::vector<Key>& keys_of();
template <>
const std::vector<Key>& keys_of<Scene>();
template <>
const std::vector<Key>& keys_of<SolverSpec>();
template <>
const std::vector<Key>& keys_of<BodySpec>();
template <>
const std::vector<Key>& keys_of<MeshSpec>();  // and the parameters of its generator
template <>
const std::vector<Key>& keys_of<Mesh>();
template <>
const std::vector<Key>& keys_of<Placement>();
template <>
const std::vector<Key>& keys_of<PotentialSpec>();  // and the parameters of its type
template <>
const std::vector<Key>& keys_of<PoseSpec>();
template <>
const std::vector<Key>& keys_of<InitialState>();
template <>
const std::vector<Key>& keys_of<Dials>();
template <>
const std::vector<Key>& keys_of<Selection>();
template <>
const std::vector<Key>& keys_of<AnchorSpec>();
template <>
const std::vector<Key>& keys_of<ForceSpec>();
template <>
const std::vector<Key>& keys_of<PushSpec>();
template <>
const std::vector<Key>& keys_of<WindSpec>();
template <>
const std::vector<Key>& keys_of<ColliderSpec>();
template <>
const std::vector<Key>& keys_of<ContactSpec>();
template <>
const std::vector<Key>& keys_of<ContactPairSpec>();

/// Objects that are read and written by nothing but their keys.
template <class T>
inline constexpr bool has_keys = false;
template <>
inline constexpr bool has_keys<Scene> = true;
template <>
inline constexpr bool has_keys<Mesh> = true;
template <>
inline constexpr bool has_keys<SolverSpec> = true;
template <>
inline constexpr bool has_keys<Selection> = true;
template <>
inline constexpr bool has_keys<MeshSpec> = true;
template <>
inline constexpr bool has_keys<Placement> = true;
template <>
inline constexpr bool has_keys<PoseSpec> = true;
template <>
inline constexpr bool has_keys<InitialState> = true;
template <>
inline constexpr bool has_keys<Dials> = true;
template <>
inline constexpr bool has_keys<BodySpec> = true;
template <>
inline constexpr bool has_keys<PotentialSpec> = true;
template <>
inline constexpr bool has_keys<AnchorSpec> = true;
template <>
inline constexpr bool has_keys<ForceSpec> = true;
template <>
inline constexpr bool has_keys<PushSpec> = true;
template <>
inline constexpr bool has_keys<WindSpec> = true;
template <>
inline constexpr bool has_keys<ColliderSpec> = true;
template <>
inline constexpr bool has_keys<ContactSpec> = true;
template <>
inline constexpr bool has_keys<ContactPairSpec> = true;

/// Calls visit(pointer to member or tag) for one key of an object. Of an address, so that callers need not be
/// templates: each visitor is as many functions as there are kinds of members.
template <class Visitor>
void visit_member(const Key& key, const void* owner, Visitor&& visit) {
  std::visit(visit, key.member(const_cast<void*>(owner)));
}

const std::vector<std::string>& generator_names();
const std::vector<std::string>& potential_names();
const std::vector<std::string>& method_names();
const std::vector<std::string>& combined_method_names();
std::string combined_words();                       ///< what those are
const std::vector<std::string>& collider_shapes();

/// Null when there is none of that name.
const GeneratorInfo* find_generator(const std::string& name);
const PotentialInfo* find_potential_info(const std::string& type);
const ParameterInfo* find_parameter(const std::vector<ParameterInfo>& parameters, const std::string& name);

}  // namespace verve
