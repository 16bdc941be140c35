// SPDX-License-Identifier: Apache-2.0
//
// What the API server takes of the operators' objects. A shape is written as
//   {key=SHAPE key!=SHAPE key-1.2=SHAPE &FRAGMENT}
//                                         a map with these keys and those of a fragment; one with !
//                                         is required, one with a release none since that release
//   <SHAPE>                               a map with any keys
//   [SHAPE]                               a list
//   s  s(a|b)  i  i(0..99)  b  n  q  *    a string (of these), an integer (of this range), a
//                                         boolean, a number, an integer or string, anything
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/value.h"

namespace railhead::lint {

struct Shape {
  enum class Kind : std::uint8_t {
    anything,
    text,
    integer,
    boolean,
    number,
    integer_or_text,
    map,
    free_map,
    list
  };
  struct Key;

  Kind kind = Kind::anything;
  std::vector<Key> keys;                ///< of a map
  std::vector<Shape> item;              ///< of a list or free map, the one shape of its values
  std::vector<std::string_view> words;  ///< that a text is one of; none: any
  std::optional<std::int64_t> least;
  std::optional<std::int64_t> most;

  [[nodiscard]] const Key* key(std::string_view name) const;
};

struct Shape::Key {
  std::string_view name;
  std::string_view gone_since;  ///< "" where it is one
  bool is_required = false;
  Shape shape;
};

/// A part of several shapes.
struct Fragment {
  std::string_view name;
  std::string_view keys;
};

/// An object's kind, whose `spec` has this shape.
struct Schema {
  std::string_view kind;
  std::string_view group;    ///< of its apiVersion
  std::string_view release;  ///< "sriov-network-operator 1.6.0": of which it was taken
  std::string_view spec;     ///< its notation
};

// One file each.
std::span<const Schema> sriov_schemas();  ///< SR-IOV network operator
std::span<const Schema> nic_schemas();    ///< NVIDIA's network operator, and NIC configuration
std::span<const Schema> gpu_schemas();    ///< GPU operator
std::span<const Fragment> fragments();
std::string_view gpu_operator_values();  ///< what the GPU operator's chart has beyond its objects

/// Absent where the notation is malformed.
std::optional<Shape> parse_shape(std::string_view notation);

/// nullptr for an object of another kind or group.
const Schema* schema_of(std::string_view kind, std::string_view api);
const Shape& shape_of(const Schema& schema);
/// Values of the GPU operator's chart.
const Shape& shape_of_gpu_values();

/// What is wrong with a value.
struct Misfit {
  enum class What : std::uint8_t { unknown_key, old_key, value };  // value: a missing one, too

  What what = What::value;
  std::string path;  ///< "spec.nicSelector.vendor"
  data::Mark mark;
  std::string text;  ///< of an unknown key, what was probably meant: "; did you mean …?"
};

/// In the order of the text. `path` is that of the value.
std::vector<Misfit> misfits(const Shape& shape, const data::Value& value, const std::string& path);

/// As the API server's decoder of YAML reads an unquoted scalar.
/// Source: kubernetes-sigs/yaml goyaml.v2/resolve.go.
enum class ScalarType : std::uint8_t { text, integer, boolean, number, null };
ScalarType scalar_type(const data::Value& value);

}  // namespace railhead::lint
