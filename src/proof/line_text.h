// SPDX-License-Identifier: Apache-2.0
//
// A line of a log, as its library printed it, out of what a terminal, a collector or a web page has
// made of it.
#pragma once

#include <string>
#include <string_view>

namespace railhead::proof {

/// The line without colours, with the characters that HTML and JSON name, and with plain blanks. A
/// colour is ESC [ … letter; ESC may be spelt as JSON, a shell or a person does (\u001b, \033, ^[),
/// or be lost ("[36m"). `room` holds the text where something was changed.
std::string_view plain_text(std::string_view line, std::string& room);

/// The line without the head of a frame, of which docker's API has one before each: the stream (1
/// or 2), three NULs, the size in four bytes.
std::string_view without_frame(std::string_view line);

/// Takes the next piece off the front of a line. A progress bar writes over its line, and JSON and
/// Python spell ends of lines: each piece stands for itself. It may be empty.
std::string_view take_piece(std::string_view& line);

/// Where the last piece ends that is whole, behind what separates it; 0 where there is none.
std::size_t end_of_last_piece(std::string_view line);

/// The message without what closes it in a line of JSON, of logfmt or of a list:
/// `…","stream":"stdout"}`, `…" level=info`. Its own quotes are even in number, or escaped.
std::string_view without_closing_quote(std::string_view message);

}  // namespace railhead::proof
