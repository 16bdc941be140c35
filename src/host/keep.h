// SPDX-License-Identifier: Apache-2.0
// What of usual files a recording keeps: see Host::read_keeping().
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace railhead::host {

/// A line of text, without white space around it. What is no such line becomes two lines "?", so
/// that it still is none, unless it is short and has no letters.
std::string keep_line(std::string_view content);

/// A number as C or the kernel writes it (12, -1, 0x1f), numbers with '-' and ',' or blanks
/// between, as in lists of processors and tables of distances. What else stands there becomes "?".
std::string keep_numbers(std::string_view content);

/// The first word, where it is a number with or without a fraction, as of /proc/uptime.
std::string keep_first_number(std::string_view content);

/// Whether it is there, and nothing of it.
std::string keep_presence(std::string_view content);

/// Of the tables of routes in /proc/net the default routes without their gateways, and of IPv4 the
/// networks that are reached without one.
std::string keep_routes(std::string_view content);

/// The lines that `change` makes of the lines, without those of which it makes ""; a newline where
/// none is left.
std::string keep_lines(std::string_view content,
                       const std::function<std::string(std::string_view line)>& change);

/// The lines for which `is_read` holds, as they are; a newline where there is none.
std::string keep_lines_if(std::string_view content, bool (*is_read)(std::string_view line));

/// Whether the word has something, and is made of letters, digits and these alone.
bool is_made_of(std::string_view word, std::string_view others);

}  // namespace railhead::host
