// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"

	"github.com/gvw-project/gvw/allreduce/schedule"
)

// amid carries out the part of a collective in the segment that goes to other machines: prog
// over v, which this rank's host has summed. False: the job has failed, or ctx has ended.
func (en *engine) amid(ctx context.Context, prog *schedule.Program, v []byte) bool {
	en.mu.Lock()
	if en.stopped() {
		en.mu.Unlock()
		return false
	}
	c := &en.call
	c.shared, c.later = false, false
	en.dog.seq = 0 // the clocks of these edges start now
	en.load(prog, v, v)
	for _, e := range en.open {
		en.driver.nudge(e) // who reads may hold the first parts
	}
	en.progress()
	en.mu.Unlock()
	en.driver.carry(ctx)
	en.mu.Lock()
	defer en.mu.Unlock()
	if en.active || en.failure != nil {
		return false
	}
	en.active, c.shared = true, true
	en.dog.seq = 0
	return true
}
