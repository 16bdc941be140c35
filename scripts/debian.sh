# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by scripts that fetch Debian packages without installing them. They define die().

readonly DEBIAN_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# The Debian archive in apt's sources, for a machine where no index was ever fetched.
mirror_in_sources() {
  local codename
  codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  # One "deb URI suite" line, or a paragraph with "URIs:" and "Suites:".
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources \
    2>/dev/null | awk -v suite="$codename" '
      /^deb / { for (i = 2; i < NF; i++) if ($i ~ /:\/\// && $(i + 1) == suite) print $i }
      /^URIs:/ { uri = $2 }
      /^Suites:/ { for (i = 2; i <= NF; i++) if ($i == suite && uri) print uri }
      /^$/ { uri = "" }' | sed -n 1p
}

# The archive that apt is configured with, so that no mirror is named here.
debian_mirror() {
  local mirror
  # shellcheck disable=SC2016  # the names are apt's, not the shell's
  mirror=$(apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(COMPONENT) $(REPO_URI)' \
    'Created-By: Packages' |
    awk '$1 == "Debian" && $2 !~ /-/ && $3 == "main" && !seen++ { print $4 }')
  mirror=${mirror:-$(mirror_in_sources)}
  [[ -n $mirror ]] || die "apt of this machine has no Debian archive among its sources"
  echo "$mirror"
}

# private_apt_in FOLDER SUITE…: prepares an apt of our own, so that the system's is left alone.
private_apt_in() {
  local dir=$1 mirror suite
  shift
  [[ -r $DEBIAN_KEYRING ]] || die "$DEBIAN_KEYRING: not there (package debian-archive-keyring)"
  mirror=$(debian_mirror)
  mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
  : >"$dir/status"
  for suite in "$@"; do
    echo "deb [signed-by=$DEBIAN_KEYRING] $mirror $suite main"
  done >"$dir/sources.list"
  private_apt "$dir" update >&2
}

# private_apt FOLDER ARGUMENT…: that apt, which believes that nothing is installed.
private_apt() {
  local dir=$1
  shift
  apt-get -qq -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State="$dir" -o Dir::State::status="$dir/status" -o Dir::State::lists="$dir/lists" \
    -o Dir::Cache="$dir/cache" -o APT::Sandbox::User=root -o APT::Install-Recommends=false \
    -o Acquire::Languages=none "$@"
}
