// SPDX-License-Identifier: Apache-2.0

package spantree

import (
	"errors"
	"hash/crc32"
)

// errMemory is why a client is not taken, or not kept.
var errMemory = errors.New("the server's memory for clients is full (--max_memory)")

// maxRanksLimit is what the members of a job may need in one START.
const maxRanksLimit = 32768

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
