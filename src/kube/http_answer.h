// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "kube/messages.h"

namespace railhead::kube {

using HttpAnswerParser = boost::beast::http::response_parser<boost::beast::http::string_body>;

/// No more than so many bytes of a body, and 16 KiB of headers.
void set_limits(HttpAnswerParser& parser, std::size_t body_bytes);

/// What a finished parser has read.
Answer answer_in(HttpAnswerParser& parser);

}  // namespace railhead::kube
