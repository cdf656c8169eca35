// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

package sgd

import (
	"golang.org/x/sys/cpu"

	"github.com/gvw-project/gvw/feature"
)

// hasBuckets reports whether translateBuckets can be used.
var hasBuckets = cpu.X86.HasAVX2

// translateBuckets is translateEach for at least one feature. It adds weights while there are fewer than room; counted is
// their new number. A negative room adds none.
//
//go:noescape
func translateBuckets(dst *feature.Feature, src []feature.Feature, slots *uint64, buckets, count, room int) (done, counted int)

// translateSome is translateEach for at least one feature.
func (n *numbers) translateSome(dst, src []feature.Feature, adds bool) (done int) {
	if !hasBuckets {
		return n.translateEach(dst, src, adds)
	}
	room := -1
	if adds {
		room = n.room()
	}
	done, n.count = translateBuckets(&dst[0], src, &n.slots[0], len(n.slots)/bucket, n.count, room)
	return done
}
