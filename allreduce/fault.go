// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"slices"

	"github.com/gvw-project/gvw/internal/fault"
)

// strike lets a fault happen at a point of this rank's way. done ends what began
// there: a slow rank's work takes longer.
func (g *Group) strike(p fault.Point) (done func()) {
	return g.engine.suffer(fault.At(g.cfg.Rank, p))
}

// suffer does what a fault leaves to the owner of the connections.
func (en *engine) suffer(act fault.Act) (done func()) {
	switch act.Kind {
	case fault.Drop:
		en.driver.cut()
	case fault.Garble:
		en.mu.Lock()
		en.garble = true
		en.mu.Unlock()
	case fault.HalfOpen:
		en.mute.Store(true)
	}
	return act.Stretch()
}

// muted holds back what has come while the edges are half open; when all is over
// nobody waits for it.
func (e *edge) muted() (held bool) {
	e.en.mu.Lock()
	defer e.en.mu.Unlock()
	e.waiting = true
	return true
}

// spoilt is data with a bit flipped; what the caller has stays as it is.
func spoilt(data []byte) []byte {
	data = slices.Clone(data)
	data[len(data)/2] ^= 1
	return data
}
