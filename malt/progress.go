// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"sync"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// progress is what this rank reports to the server of how far it is, by which the server finds the ranks that have no
// values yet, and a rank that sends them some.
//
// Ranks of this library have no common steps. A rank with values is at the point where the membership began, one
// step further when it has merged something since, and two when all ranks are done. A rank without values is at the
// beginning. So a new rank is always behind one that has trained, and a rank that is done is ahead of all that
// are not. The difference of a step between two ranks with values means nothing: both keep their own.
//
// In a job without new ranks each rank has its own values from the start. If another rank is lost before a slow one has
// begun its first membership, the server counts the slow one as behind those that have trained, but none would send it
// values.
type progress struct {
	mu     sync.Mutex
	epoch  protocol.Epoch // the membership that this rank is in
	began  client.Point   // where it began
	has    bool           // this rank has values; set at the start in a job without new ranks
	steps  uint64         // since began
	sealed bool           // the membership has ended
}

// The steps of a membership.
const (
	stepMerged = 1 // this rank has merged an update
	stepDone   = 2 // all ranks are done
)

// begin begins the membership of w.
func (p *progress) begin(w *client.Wiring) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.epoch, p.began, p.steps, p.sealed = w.Epoch, w.Resume, 0, false
	p.has = p.has || w.Missing == nil
}

// hasValues reports whether this rank has values.
func (p *progress) hasValues() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.has
}

// received notes that this rank has received values.
func (p *progress) received() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.has = true
}

// reach notes a step of the membership.
func (p *progress) reach(step uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.sealed {
		p.steps = max(p.steps, step)
	}
}

// Position implements client.StepTracker.
func (p *progress) Position() client.Position {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.position()
}

// Seal implements client.StepTracker.
func (p *progress) Seal(e protocol.Epoch) client.Position {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sealed = p.sealed || e == p.epoch
	return p.position()
}

func (p *progress) position() client.Position {
	at := client.Position{Completed: p.began, WaitsFor: -1}
	switch {
	case !p.has:
		at.Completed = client.Point{}
	case p.steps > 0:
		at.Completed = client.Point{Epoch: p.epoch, Step: p.began.Step + p.steps}
	}
	return at
}
