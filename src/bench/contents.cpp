// SPDX-License-Identifier: Apache-2.0
#include "bench/contents.h"

#include <string>

#include "bench/pattern.h"

namespace railhead::bench {
namespace {

/// Both directions of a step carry different bytes, so that a side that reads its own is noticed.
std::uint64_t seed_of(const Step& step, std::size_t lane, unsigned pair, unsigned slot,
                      Part writer) {
  return pattern_seed(step.seed * 2 + (writer == Part::initiator ? 0 : 1), lane, pair, slot);
}

Part other(Part part) {
  return part == Part::initiator ? Part::responder : Part::initiator;
}

}  // namespace

bool receives(const Step& step, Part part) {
  if (step.operation == Operation::read) return part == Part::initiator;
  return step.measure == Measure::latency || part == Part::responder;
}

std::uint64_t bytes_compared(const Step& step) {
  const bool counted = step.measure == Measure::latency && step.operation == Operation::write;
  return step.size_bytes - (counted ? 1 : 0);
}

unsigned pairs_used(const Step& step, unsigned all) {
  return step.measure == Measure::latency ? 1 : all;
}

Status fill_contents(Buffer& buffer, const Layout& layout, const Step& step, std::size_t lane,
                     Part part) {
  std::vector<std::byte> bytes(step.size_bytes);
  const std::vector<std::byte> zeroes(step.size_bytes);
  for (unsigned pair = 0; pair < pairs_used(step, layout.queue_pairs); ++pair) {
    for (unsigned slot = 0; slot < layout.slots; ++slot) {
      fill_pattern(bytes, seed_of(step, lane, pair, slot, part));
      TRY_STATUS(buffer.write(layout.source(pair, slot), bytes));
      TRY_STATUS(buffer.write(layout.target(pair, slot), zeroes));
    }
  }
  return {};
}

Status check_contents(Buffer& buffer, const Layout& layout, const Step& step, std::size_t lane,
                      Part part, const std::vector<unsigned>& first) {
  if (!receives(step, part)) return {};
  std::vector<std::byte> bytes(bytes_compared(step));
  for (unsigned pair = 0; pair < pairs_used(step, layout.queue_pairs); ++pair) {
    for (unsigned message = 0; message < (step.ring ? layout.slots : 1); ++message) {
      const auto slot = (first.at(pair) + message) % layout.slots;
      TRY_STATUS(buffer.read(layout.target(pair, slot), bytes));
      const auto wrong = find_mismatch(bytes, seed_of(step, lane, pair, message, other(part)));
      if (!wrong) continue;
      return Error{
          ErrorCode::malformed,
          std::string(to_string(step.operation)) + " of " + std::to_string(step.size_bytes) +
              " bytes: " + (step.ring ? "message " + std::to_string(message) : "the last message") +
              " of queue pair " + std::to_string(pair) + ": byte " + std::to_string(*wrong) +
              " is not what was sent"};
    }
  }
  return {};
}

}  // namespace railhead::bench
