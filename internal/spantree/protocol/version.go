// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"fmt"
)

const SameRelease = "install the same release on all machines"

// VersionOf names a version of the protocol, and the program that speaks it if that is known.
func VersionOf(protocol uint8, program string) string {
	if program == "" {
		return fmt.Sprintf("version %d of the protocol", protocol)
	}
	return fmt.Sprintf("version %d of the protocol (%s)", protocol, program)
}
