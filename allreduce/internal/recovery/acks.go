// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"maps"
	"slices"
	"sync"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// acks is the pending acknowledgements of the results that other ranks take from this one, in
// one epoch. The next exchange, which overwrites the results, waits for all of them.
type acks struct {
	mu      sync.Mutex
	wiring  *client.Wiring // the epoch; nil: none yet
	pending map[int]bool   // by rank
	all     chan struct{}  // closed: none is pending; nil before the first epoch
	// early has the ranks that acknowledged before this rank entered their epoch.
	early map[*client.Wiring][]int
}

// begin expects the acknowledgements of an epoch.
func (a *acks) begin(w *client.Wiring) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wiring, a.pending, a.all = w, map[int]bool{}, make(chan struct{})
	for _, m := range w.Owed {
		if m.Payload == protocol.PayloadResults {
			a.pending[m.Rank] = true
		}
	}
	for _, rank := range a.early[w] {
		delete(a.pending, rank)
	}
	a.early = nil
	if len(a.pending) == 0 {
		close(a.all)
	}
}

// add notes that a rank has the results, for an epoch that this rank may not have entered yet.
func (a *acks) add(w *client.Wiring, rank int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.wiring != w {
		if a.early == nil {
			a.early = map[*client.Wiring][]int{}
		}
		a.early[w] = append(a.early[w], rank)
		return
	}
	if a.pending[rank] {
		if delete(a.pending, rank); len(a.pending) == 0 {
			close(a.all)
		}
	}
}

// done returns a channel that is closed when no acknowledgement is pending.
func (a *acks) done() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all
}

// ranks returns the ranks that have not acknowledged yet, in order.
func (a *acks) ranks() []int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(maps.Keys(a.pending))
}
