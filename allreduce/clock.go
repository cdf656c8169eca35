// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"sync/atomic"

	"github.com/gvw-project/gvw/internal/shm"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/timeline"
	"github.com/gvw-project/gvw/internal/timeline/offset"
)

// serverClock passes the exchanges with the server's clock to the timeline.
type serverClock struct {
	timeline.Clock
	recorder atomic.Pointer[timeline.Recorder] // nil: a spare has no rank yet, or there is no timeline
}

var _ client.Clock = (*serverClock)(nil)

func (c *serverClock) Exchanged(s offset.Sample, reference uint64) {
	c.recorder.Load().Exchanged(s, reference)
}

// newTimeline starts the timeline of a rank.
func (g *Group) newTimeline(rank int) {
	g.timeline = timeline.New(g.cfg.Timeline, rank, g.clock.Clock)
	g.clock.recorder.Store(g.timeline)
}

// timelineClock returns the clock of the timeline.
func (c Config) timelineClock() timeline.Clock {
	if c.clock != nil {
		return *c.clock
	}
	machine, _ := shm.Machine() // "": other systems have no such identifier
	return timeline.NewClock(machine)
}
