// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/gvw-project/gvw/internal/fault"
)

// Inject carries out the part of a fault that needs the connections.
func (en *Engine) Inject(act fault.Act) (done func()) {
	switch act.Kind {
	case fault.Drop:
		en.Driver.Cut()
	case fault.Garble:
		en.FlipNext()
	case fault.HalfOpen:
		en.Mute()
	}
	return act.Stretch()
}
