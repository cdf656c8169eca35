// SPDX-License-Identifier: Apache-2.0

package edges

import (
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Waits is the content of a rank's newest heartbeat, and since when the rank has repeated it.
type Waits struct {
	For        int // rank that it waits for; -1: none
	Collective uint64
	Epoch      protocol.Epoch
	At         time.Time
	Since      time.Time // first heartbeat with this collective; zero: it was the epoch's first
	Same       time.Time // first of the successive heartbeats with this collective, or this unopened connection
}

// Next returns the state after another heartbeat.
func (w Waits) Next(waitsFor int, collective uint64, e protocol.Epoch, now time.Time) Waits {
	next := Waits{For: waitsFor, Collective: collective, Epoch: e, At: now, Since: w.Since, Same: w.Same}
	switch {
	case w.Epoch != e:
		next.Since, next.Same = time.Time{}, now
	case w.Collective != collective:
		next.Since, next.Same = now, now
	case collective == 0 && w.For != waitsFor:
		next.Same = now
	}
	return next
}

// Node returns the rank's node in the graph of an epoch, without its ASKs.
func (w Waits) Node(e protocol.Epoch) Node {
	n := Node{WaitsFor: -1, Broke: -1}
	if w.Epoch == e {
		n.BeatAt, n.Collective, n.WaitsFor, n.Entered, n.Since = w.At, w.Collective, w.For, w.Since, w.Same
	}
	return n
}
