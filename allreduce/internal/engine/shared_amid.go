// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"

	"github.com/gvw-project/gvw/allreduce/schedule"
)

// amid carries out the part of a collective in the segment that goes to other machines: prog
// over v, which this rank's host has summed. False: the job has failed, or ctx has ended.
func (en *Engine) amid(ctx context.Context, prog *schedule.Program, v []byte) bool {
	en.Mu.Lock()
	if en.Stopped() {
		en.Mu.Unlock()
		return false
	}
	c := &en.Call
	c.shared, c.later = false, false
	en.dog.seq = 0 // the clocks of these edges start now
	en.load(prog, v, v)
	en.Wake() // a reader may hold the first parts
	en.progress()
	en.Mu.Unlock()
	en.carry(ctx)
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if en.Active || en.Failure != nil {
		return false
	}
	en.Active, c.shared = true, true
	en.dog.seq = 0
	return true
}
