// SPDX-License-Identifier: Apache-2.0

//go:build long

package hadoop

import (
	"strings"
	"testing"
)

// The whole suite with all clients and names.
func TestFileSystemsWithAllClients(t *testing.T) {
	for _, way := range []string{"auto", "webhdfs://", "pipe"} {
		t.Run(strings.Trim(way, ":/"), func(t *testing.T) { conforms(t, way, false) })
	}
}
