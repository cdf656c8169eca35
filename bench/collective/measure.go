// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/gvw-project/gvw/allreduce"
)

// group is what is measured.
type group interface {
	AllReduce(ctx context.Context, v allreduce.Vector, op allreduce.Op) error
	Barrier(ctx context.Context) error
	Rank() int
	Size() int
}

// Batch is one batch of calls: what a rank 0 reports, one JSON object a line.
type Batch struct {
	Bytes int     `json:"bytes"`
	Calls int     `json:"calls"`
	US    float64 `json:"us"`     // per call, by the slowest rank
	CPU   float64 `json:"cpu_us"` // per call, of all ranks together
}

// The batches: about so long, and so many.
const (
	batchTime  = 20 * time.Millisecond
	warmTime   = batchTime / 4
	maxCalls   = 1 << 14
	minBatches = 5
	maxBatches = 100
)

// meter measures one rank's part.
type meter struct {
	group  group
	per    time.Duration        // for the batches of one size
	cpu    func() time.Duration // used by this rank so far
	emit   func(Batch) error    // called on rank 0
	vector func(n int) ([]float32, error)
	// For what the ranks agree on; a vector that is made once.
	slowest, total [1]float64
}

// size measures vectors of so many bytes.
func (m *meter) size(ctx context.Context, bytes int) error {
	v, err := m.vector(bytes / 4)
	if err != nil {
		return err
	}
	if err := m.check(ctx, v); err != nil {
		return err
	}
	clear(v) // sums stay finite, however many
	calls, us, err := m.warm(ctx, v)
	if err != nil {
		return err
	}
	batches := plan(m.per, time.Duration(us*float64(calls)*float64(time.Microsecond)))
	for range batches {
		b, err := m.batch(ctx, v, calls)
		if err != nil {
			return err
		}
		if m.group.Rank() == 0 {
			if err := m.emit(b); err != nil {
				return err
			}
		}
	}
	return m.check(ctx, v)
}

// plan returns the number of batches that fit a time.
func plan(per, batch time.Duration) int {
	return min(max(int(per/max(batch, 1)), minBatches), maxBatches)
}

// warm runs batches of growing length and returns how many calls make a proper
// one, and how long each takes.
func (m *meter) warm(ctx context.Context, v []float32) (calls int, us float64, err error) {
	for calls = 1; ; calls = min(4*calls, maxCalls) {
		b, err := m.batch(ctx, v, calls)
		if err != nil {
			return 0, 0, err
		}
		took := b.US * float64(calls) * float64(time.Microsecond)
		if took < float64(warmTime) && calls < maxCalls {
			continue
		}
		calls = min(max(int(float64(calls)*float64(batchTime)/took), 1), maxCalls)
		return calls, b.US, nil
	}
}

// batch returns one batch of back-to-back calls after a barrier. All ranks get the
// same figures.
func (m *meter) batch(ctx context.Context, v []float32, calls int) (Batch, error) {
	if err := m.group.Barrier(ctx); err != nil {
		return Batch{}, err
	}
	cpu, begun := m.cpu(), time.Now()
	for range calls {
		if err := m.group.AllReduce(ctx, allreduce.Vec(v), allreduce.Sum); err != nil {
			return Batch{}, err
		}
	}
	m.slowest[0] = float64(time.Since(begun)) / float64(time.Microsecond) / float64(calls)
	m.total[0] = float64(m.cpu()-cpu) / float64(time.Microsecond) / float64(calls)
	if err := m.group.AllReduce(ctx, allreduce.Vec(m.slowest[:]), allreduce.Max); err != nil {
		return Batch{}, err
	}
	if err := m.group.AllReduce(ctx, allreduce.Vec(m.total[:]), allreduce.Sum); err != nil {
		return Batch{}, err
	}
	return Batch{Bytes: 4 * len(v), Calls: calls, US: m.slowest[0], CPU: m.total[0]}, nil
}

// check compares the result of one call with the exact answer. All ranks fail if
// one does.
func (m *meter) check(ctx context.Context, v []float32) error {
	rank, n := m.group.Rank(), m.group.Size()
	for i := range v {
		v[i] = contribution(i, rank)
	}
	if err := m.group.AllReduce(ctx, allreduce.Vec(v), allreduce.Sum); err != nil {
		return err
	}
	wrong := wrongAt(v, n)
	m.slowest[0] = math.Inf(-1)
	if wrong >= 0 {
		m.slowest[0] = float64(rank)
	}
	if err := m.group.AllReduce(ctx, allreduce.Vec(m.slowest[:]), allreduce.Max); err != nil {
		return err
	}
	switch {
	case wrong >= 0:
		return fmt.Errorf("collective: rank %d of %d, sum of %d bytes: element %d: got %v, want %v", rank, n, 4*len(v), wrong, v[wrong], exact(wrong, n))
	case m.slowest[0] >= 0:
		return fmt.Errorf("collective: sum of %d bytes: rank %v has a wrong result", 4*len(v), m.slowest[0])
	}
	return nil
}

// contribution is element i of a rank's vector: small whole numbers, whose sum
// over 4096 ranks is exact in a float32. The period is a prime, so that a
// chunk in a wrong place shows.
func contribution(i, rank int) float32 { return float32(i%1021 + rank) }

// exact is element i of the sum over n ranks.
func exact(i, n int) float32 { return float32(n*(i%1021) + n*(n-1)/2) }

// wrongAt returns the first element of v that is not the exact sum; -1: none.
func wrongAt(v []float32, n int) int {
	for i, x := range v {
		if x != exact(i, n) {
			return i
		}
	}
	return -1
}
