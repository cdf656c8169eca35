// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"errors"
)

// ErrMemory is the reason why a client is refused or disconnected at the server's memory limit.
var ErrMemory = errors.New("the server's memory for clients is full")

// MaxRanksLimit is the largest MaxRanks of a server. The members of such a job fit into one
// EPOCH_START of at most MaxPayload bytes.
const MaxRanksLimit = 32768
