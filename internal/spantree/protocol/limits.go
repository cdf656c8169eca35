// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"errors"
	"hash/crc32"
)

// ErrMemory is why a client is not taken, or not kept.
var ErrMemory = errors.New("the server's memory for clients is full (--max_memory)")

// MaxRanksLimit is what the members of a job may need in one EPOCH_START.
const MaxRanksLimit = 32768

var Castagnoli = crc32.MakeTable(crc32.Castagnoli)
