// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/gvw-project/gvw/allreduce"
)

// group is the part of allreduce.Group that is measured.
type group interface {
	AllReduce(ctx context.Context, v allreduce.Vector, op allreduce.Op) error
	Barrier(ctx context.Context) error
	Rank() int
	Size() int
}

// Batch is one batch of calls. Rank 0 reports each as one JSON object on a line.
type Batch struct {
	Bytes int     `json:"bytes"`
	Calls int     `json:"calls"`
	US    float64 `json:"us"`     // microseconds per call, of the slowest rank
	CPU   float64 `json:"cpu_us"` // microseconds per call, summed over all ranks
}

// The target durations of a batch and of a warm-up batch, and limits on the calls per batch and
// on the batches.
const (
	batchTime = 20 * time.Millisecond
	warmTime  = batchTime / 4
	maxCalls  = 1 << 14
	// warmRepeats is how often a warm-up batch runs that takes warmTime.
	warmRepeats = 3
	minBatches  = 5
	maxBatches  = 100
)

// meter measures one rank's part.
type meter struct {
	group  group
	per    time.Duration        // time for the batches of one size
	cpu    func() time.Duration // returns the CPU time of this rank so far
	emit   func(Batch) error    // called on rank 0
	vector func(n int) ([]float32, error)
	// Vectors for values that the ranks agree on, allocated once.
	slowest, total [1]float64
}

// size measures vectors of the given length in bytes.
func (m *meter) size(ctx context.Context, bytes int) error {
	v, err := m.vector(bytes / 4)
	if err != nil {
		return err
	}
	if err := m.check(ctx, v); err != nil {
		return err
	}
	clear(v) // zeros keep repeated sums finite
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

// plan returns the number of batches that fit into the time per.
func plan(per, batch time.Duration) int {
	return min(max(int(per/max(batch, 1)), minBatches), maxBatches)
}

// warm runs batches of growing length. It returns the number of calls in a full batch and the
// time of one such call in microseconds. A batch that seems long enough is repeated, and the
// shortest time counts: a pause of the machine in one batch would otherwise leave far too few
// calls in all batches that follow.
func (m *meter) warm(ctx context.Context, v []float32) (calls int, us float64, err error) {
	for calls = 1; ; calls = min(4*calls, maxCalls) {
		b, err := m.batch(ctx, v, calls)
		if err != nil {
			return 0, 0, err
		}
		for n := 1; n < warmRepeats && b.US*float64(calls) >= float64(warmTime/time.Microsecond); n++ {
			again, err := m.batch(ctx, v, calls)
			if err != nil {
				return 0, 0, err
			}
			b.US = min(b.US, again.US)
		}
		took := b.US * float64(calls) * float64(time.Microsecond)
		if took < float64(warmTime) && calls < maxCalls {
			continue
		}
		calls = min(max(int(float64(calls)*float64(batchTime)/took), 1), maxCalls)
		return calls, b.US, nil
	}
}

// batch runs one batch of back-to-back calls after a barrier. All ranks get the same figures.
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

// check compares the result of one call with the exact answer. It fails on all ranks if it
// fails on one.
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

// contribution returns element i of a rank's vector: a small whole number, so that the sum over
// 4096 ranks is exact in a float32. The period is a prime, so that a misplaced chunk is
// detected.
func contribution(i, rank int) float32 { return float32(i%1021 + rank) }

// exact returns element i of the sum over n ranks.
func exact(i, n int) float32 { return float32(n*(i%1021) + n*(n-1)/2) }

// wrongAt returns the index of the first element of v that differs from the exact sum, or -1.
func wrongAt(v []float32, n int) int {
	for i, x := range v {
		if x != exact(i, n) {
			return i
		}
	}
	return -1
}
