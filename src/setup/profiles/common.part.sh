# SPDX-License-Identifier: Apache-2.0
set -Eeuo pipefail

# stop SENTENCE: ends the script, and says what to look at.
stop() {
  echo "$PROFILE: stopped: $*" >&2
  exit 1
}
trap 'stop "line $LINENO failed: $BASH_COMMAND"' ERR

# need PROGRAM…
need() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || stop "there is no $program here: install it, and run this again"
  done
}

# wait_for SECONDS SENTENCE COMMAND…: asks the command again until it succeeds.
wait_for() {
  local end=$((SECONDS + $1)) sentence=$2
  shift 2
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || stop "$sentence"
    sleep 3
  done
}
