// SPDX-License-Identifier: Apache-2.0
//
// Two fields of a function's Device Control register (PCI_EXP_DEVCTL, offset 8 of the PCI Express
// capability; Linux include/uapi/linux/pci_regs.h). Nothing else of configuration space is written.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "host/host.h"
#include "node/pci_config.h"

namespace railhead::setup {

enum class PciField : std::uint8_t {
  max_read_request,  ///< bytes: 128, 256, … 4096
  relaxed_ordering,  ///< 0 or 1
};

/// "0000:18:00.0/max-read-request": how a change and the journal name a field.
std::string pci_subject(const std::string& address, PciField field);

/// "" where the configuration space that was read ends before the field.
std::string text_of_field(const node::PciConfig& config, PciField field);

/// What a field of a subject has now; "": not readable.
std::string read_pci_field(host::Host& host, const std::string& subject);

/// Where two bytes are to be written, and what.
struct PciWrite {
  std::string path;
  std::uint16_t offset = 0;
  std::uint16_t value = 0;
};

/// The register as it is now with this field changed, and without bit 15, which would reset the
/// function. Fails for what is no value of the field.
Result<PciWrite> pci_write(host::Host& host, const std::string& subject, const std::string& value);

}  // namespace railhead::setup
