// SPDX-License-Identifier: Apache-2.0

package statusline

import "golang.org/x/sys/unix"

// The requests for the modes of a terminal.
const getModes, setModes = unix.TCGETS, unix.TCSETS
