// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace railhead::topology {

/// CPUs of a mask as the kernel prints a cpumap: words of 32 bits in hexadecimal, separated by
/// commas, the highest first ("0000ffff,ffffffff"; Linux lib/bitmap-str.c). Empty where it is none.
std::vector<unsigned> cpus_of_mask(std::string_view mask);

/// The mask of these CPUs, eight digits a word; "" for none.
std::string mask_of_cpus(const std::vector<unsigned>& cpus);

}  // namespace railhead::topology
