// SPDX-License-Identifier: Apache-2.0

package client

import (
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/events"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// The answer to COLLECT has as many of the newest events as fit into the limit of EVENTS, and into the largest payload
// that the server accepts.
func TestEventsFitIntoTheServersLimit(t *testing.T) {
	for _, c := range []struct{ maxFrame, want int }{{32 << 10, 32 << 10}, {protocol.MaxPayload, 64 << 10}} {
		scripted(t, func(t *testing.T, s *scriptedServer) {
			s.maxFrame = uint32(c.maxFrame)
			cfg, _ := s.recovering()
			cfg.Events = events.New()
			for n := range events.Capacity {
				cfg.Events.Add(events.Event{Kind: events.Wait, Number: uint64(n), Peer: -1, Name: strings.Repeat("x", 200)}, time.Now())
			}
			_, session := s.member(cfg)
			session.send(&protocol.CollectFrame{Number: 1, Limit: protocol.MaxEvents})
			got := receive[*protocol.EventsFrame](session)
			if size := session.frames.Size; size > c.want || size < c.want-512 {
				t.Errorf("a server that accepts %d bytes got an EVENTS of %d, want the %d bytes of the limit, less one event at most", c.maxFrame, size, c.want)
			}
			if last := got.Events[len(got.Events)-1].Number; last != events.Capacity-1 {
				t.Errorf("the newest event in EVENTS is %d, want %d", last, events.Capacity-1)
			}
		})
	}
}
