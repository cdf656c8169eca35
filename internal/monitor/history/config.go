// SPDX-License-Identifier: Apache-2.0

package history

import (
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Config bounds the memory of a History. The zero value is usable.
type Config struct {
	// Jobs limits the jobs, those that run and those that have ended together; 0: 64. The oldest
	// ended job is dropped first, then the oldest one that runs.
	Jobs int
	// Spans limits the phases of all ranks of a job together; 0: 65536, 1.5 MiB. A rank has its share
	// of them, but at least 8 and at most 1024.
	Spans int
	// Points limits the points of a job's curve; 0: 512, at least 3. All ranks together have 64 times as many,
	// and each of them at least 8 and at most Points.
	Points int
	// Events limits the events of a job; 0: 1000.
	Events int
}

// Validate reports every fault at once.
func (c Config) Validate() error {
	var faults []error
	for name, v := range map[string]int{"Jobs": c.Jobs, "Spans": c.Spans, "Points": c.Points, "Events": c.Events} {
		if v < 0 {
			faults = append(faults, fmt.Errorf("history: Config.%s is %d, want 0 or more", name, v))
		}
	}
	if c.Points == 1 || c.Points == 2 {
		faults = append(faults, fmt.Errorf("history: Config.Points is %d, want 0, or at least 3", c.Points))
	}
	return errors.Join(faults...)
}

func (c Config) withDefaults() Config {
	protocol.SetDefault(&c.Jobs, 64)
	protocol.SetDefault(&c.Spans, 65536)
	protocol.SetDefault(&c.Points, 512)
	protocol.SetDefault(&c.Events, 1000)
	return c
}

// share returns the part of a limit that each of n ranks may use.
func share(limit, n, least, most int) int { return max(least, min(most, limit/max(n, 1))) }
