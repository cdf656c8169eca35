// SPDX-License-Identifier: Apache-2.0

package avgstage

import (
	"context"
	"fmt"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/learn/internal/tally"
	"github.com/gvw-project/gvw/optim/masgd"
)

// position is how far a rank is in a pass that rounds divide.
type position struct {
	cursor cursor
	rounds masgd.Rounds // of the current pass
	shard  int          // examples of this rank
	got    ownSums      // from a record that is being read

	// Equal on all ranks.
	round   int     // of the pass, from 0
	counted bool    // per is known
	per     float64 // mean number of examples of a rank's shard
}

// ownSums has what a replacement of a rank needs in the middle of a pass, besides the record: the sums that the tally
// clears between two passes, the shard, and the control variate.
type ownSums struct {
	known        bool
	shard        int
	loss, weight float64 // of held-out examples
	measures     []float64
	control      []byte
}

// countStep is the name of the step that counts the examples.
const countStep = "counting examples"

// name returns the name of the round.
func (p *position) name() string { return fmt.Sprintf("round %d of %d", p.round+1, p.rounds.N()) }

// last reports whether the round is the last one of its pass.
func (p *position) last() bool { return p.round+1 == p.rounds.N() }

// count counts the examples of this rank.
func (p *position) count(ctx context.Context) error {
	read := p.cursor.read
	err := read.Pass(ctx, 0, func(*feature.Batch, *feature.Example, bool) error { return nil })
	p.shard = read.Nth
	return err
}

// read visits the examples of the round.
func (p *position) read(ctx context.Context, pass int) error {
	from, to := 0, whole
	if p.round > 0 {
		from = p.rounds.End(p.round-1, p.shard)
	}
	if !p.last() {
		to = p.rounds.End(p.round, p.shard)
	}
	return p.cursor.part(ctx, pass, from, to)
}

// Close ends a pass that an error has interrupted.
func (p *position) Close() { p.cursor.close() }

// code codes the part that is the same on all ranks.
func (p *position) code(c *snapshot.Coder) {
	c.Number("rounds of the pass done", &p.round, snapshot.MaxCount)
	c.Flag("examples counted", &p.counted)
	c.F64("examples of a rank", &p.per)
}

// check checks what code has read. divide computes the rounds of the current pass.
func (p *position) check(c *snapshot.Coder, divide func()) {
	switch {
	case c.Err() != nil:
		return
	case !(p.per >= 0 && p.per <= snapshot.MaxCount):
		c.Fail("examples of a rank: %v is no number of examples", p.per)
		return
	}
	if divide(); p.round >= p.rounds.N() {
		c.Fail("rounds of the pass done: got %d, of %d", p.round, p.rounds.N())
	}
}

// codeOwn codes what only this rank has. The lengths of the fields are the same on all ranks. control is the control
// variate, of limit bytes or none.
func (p *position) codeOwn(c *snapshot.Coder, t *tally.Tally, control []byte, limit int) {
	got := ownSums{known: true, control: control}
	held, measures := &t.Stats.Holdout, t.Measures.Own
	if measures != nil {
		got.measures = make([]float64, len(measures.Vector()))
	}
	if !c.Reading() {
		got.shard, got.loss, got.weight = p.shard, held.PassLoss, held.PassWeight
		if measures != nil {
			copy(got.measures, measures.Vector())
		}
	}
	shard := uint64(got.shard)
	c.U64("examples of this rank", &shard)
	got.shard = int(min(shard, snapshot.MaxCount))
	c.F64("held-out loss of the pass", &got.loss)
	c.F64("held-out weight of the pass", &got.weight)
	c.F64s("metrics of the pass", got.measures)
	c.Blob("control variate", &got.control, limit)
	if !c.Reading() || c.Err() != nil {
		return
	}
	if n := len(got.control); n != 0 && n != limit {
		c.Fail("control variate: got %d bytes, want %d", n, limit)
		return
	}
	p.got = got
}

// adopt continues from what codeOwn has read, and returns the control variate. ok reports whether there is anything.
// The tally has cleared the sums of the pass, as between two passes.
func (p *position) adopt(t *tally.Tally) (control []byte, ok bool) {
	got := p.got
	if !got.known {
		return nil, false
	}
	p.got = ownSums{}
	p.shard = got.shard
	if p.round > 0 {
		t.Stats.Holdout.PassLoss, t.Stats.Holdout.PassWeight = got.loss, got.weight
		if t.Measures.Own != nil {
			copy(t.Measures.Own.Vector(), got.measures)
		}
	}
	return got.control, true
}
