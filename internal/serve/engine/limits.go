// SPDX-License-Identifier: Apache-2.0

package engine

import "time"

// Limits bound the lines of a client and the time that it takes, whatever the protocol. Servers
// have them in their Config.
type Limits struct {
	MaxLine      int           // longest line, in bytes; 0: 1 MiB
	LineTimeout  time.Duration // time in which a line arrives; 0: 60 s
	WriteTimeout time.Duration // time for a client to read answers; 0: 10 s
}

// Check adds the faults of limits to those of the Config that has them.
func (l *Limits) Check(f *Faults) {
	f.Check(l.MaxLine >= 0, "Limits.MaxLine is %d bytes, want 0 or more", l.MaxLine)
	f.Check(l.LineTimeout >= 0, "Limits.LineTimeout is %v, want 0 or more", l.LineTimeout)
	f.Check(l.WriteTimeout >= 0, "Limits.WriteTimeout is %v, want 0 or more", l.WriteTimeout)
}

// WithDefaults returns limits without zeros.
func (l Limits) WithDefaults() Limits {
	if l.MaxLine == 0 {
		l.MaxLine = 1 << 20
	}
	if l.LineTimeout == 0 {
		l.LineTimeout = 60 * time.Second
	}
	if l.WriteTimeout == 0 {
		l.WriteTimeout = 10 * time.Second
	}
	return l
}
