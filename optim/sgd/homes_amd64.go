// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

package sgd

import (
	"golang.org/x/sys/cpu"

	"github.com/gvw-project/gvw/feature"
)

// hasHomes reports whether findHomes can be used.
var hasHomes = cpu.X86.HasAVX2

// findHomes is atHomesEach for at least one feature. It adds weights while there are fewer than room; counted is their
// new number.
//
//go:noescape
func findHomes(dst *feature.Feature, src []feature.Feature, slots *uint64, buckets, count, room int) (done, counted int)

// atHomes is atHomesEach for at least one feature.
func (n *numbers) atHomes(dst, src []feature.Feature, adds bool) (done int) {
	if !hasHomes {
		return n.atHomesEach(dst, src, adds)
	}
	room := 0
	if adds {
		room = n.room()
	}
	done, n.count = findHomes(&dst[0], src, &n.slots[0], len(n.slots)/bucket, n.count, room)
	return done
}
