# SPDX-License-Identifier: Apache-2.0
# Run by each build with -P: writes OUTPUT from INPUT, and touches it only where it says something new.
# RAILHEAD_COMMIT in the environment says the commit where the sources have no .git, as in an image.
set(COMMIT "$ENV{RAILHEAD_COMMIT}")
if(COMMIT STREQUAL "" AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git -C ${SOURCE} --no-optional-locks diff --quiet HEAD
    RESULT_VARIABLE differs OUTPUT_QUIET ERROR_QUIET)
  if(COMMIT AND differs EQUAL 1)
    string(APPEND COMMIT "-dirty")
  endif()
endif()
set(COMMIT_DATE "")
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  string(TIMESTAMP COMMIT_DATE "%Y-%m-%d" UTC)
elseif(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} show -s --format=%cs HEAD
    OUTPUT_VARIABLE COMMIT_DATE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
configure_file(${INPUT} ${OUTPUT} @ONLY)
