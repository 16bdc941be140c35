// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace railhead::node {

/// Brings what is kept by name up to date with a newer list of names, which come in ascending
/// order: an item whose name is not in the list goes, a new name gets an empty item.
template <typename Item>
class NameWalk {
 public:
  using Items = std::map<std::string, Item, std::less<>>;

  explicit NameWalk(Items& items)
      : items_(items),
        at_(items.begin()) {}

  /// The item of the next name of the list, and whether it is new.
  std::pair<Item&, bool> next(const std::string& name) {
    while (at_ != items_.end() && at_->first < name) at_ = items_.erase(at_);
    const bool is_new = at_ == items_.end() || at_->first != name;
    if (is_new) at_ = items_.emplace_hint(at_, name, Item{});
    return {(at_++)->second, is_new};
  }

  /// There are no further names.
  void end() { at_ = items_.erase(at_, items_.end()); }

 private:
  Items& items_;
  typename Items::iterator at_;
};

}  // namespace railhead::node
