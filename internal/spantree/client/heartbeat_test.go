// SPDX-License-Identifier: Apache-2.0

package client

import (
	"testing"
	"time"
)

// The server of a large job gets at most 500 heartbeats a second until their interval reaches a limit.
func TestUsualHeartbeat(t *testing.T) {
	for _, c := range []struct {
		total     int
		lostAfter time.Duration
		want      time.Duration
	}{
		{1, 10 * time.Second, time.Second},
		{500, 10 * time.Second, time.Second},
		{600, 10 * time.Second, 1200 * time.Millisecond},
		{1000, 10 * time.Second, 2 * time.Second},
		{4000, 10 * time.Second, 2500 * time.Millisecond},
		{4000, time.Minute, 5 * time.Second},
		{4000, 2 * time.Second, time.Second},
	} {
		if got := usualHeartbeat(c.total, c.lostAfter); got != c.want {
			t.Errorf("%d ranks that are lost after %v: %v, want %v", c.total, c.lostAfter, got, c.want)
		}
		if got := (JoinConfig{Total: c.total, LostAfter: c.lostAfter, Heartbeat: time.Minute}).withDefaults().Heartbeat; got != time.Minute {
			t.Errorf("a given interval of 1m became %v", got)
		}
	}
}
