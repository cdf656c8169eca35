// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/gvw-project/gvw/internal/fault"
)

// Suffer does what a fault leaves to the owner of the connections.
func (en *Engine) Suffer(act fault.Act) (done func()) {
	switch act.Kind {
	case fault.Drop:
		en.Driver.cut()
	case fault.Garble:
		en.Mu.Lock()
		en.garble = true
		en.Mu.Unlock()
	case fault.HalfOpen:
		en.mute.Store(true)
	}
	return act.Stretch()
}

// muted holds back what has come while the edges are half open; when all is over
// nobody waits for it.
func (e *Edge) muted() (held bool) {
	e.en.Mu.Lock()
	defer e.en.Mu.Unlock()
	e.waiting = true
	return true
}

// spoilt is data with a bit flipped; what the caller has stays as it is.
func spoilt(data []byte) []byte {
	data = slices.Clone(data)
	data[len(data)/2] ^= 1
	return data
}
