// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"math"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/vectorio"
)

// Group has the methods of *allreduce.Group that Run uses.
type Group interface {
	Rank() int
	Size() int
	AllReduce(ctx context.Context, v allreduce.Vector, op allreduce.Op) error
	AllGatherV(ctx context.Context, dst [][]byte, src []byte) ([][]byte, error)
	Barrier(ctx context.Context) error
	Failed() <-chan struct{}
}

var _ Group = (*allreduce.Group)(nil)

// Run reads vectors from r until its end, and writes one result for each to w. It
// returns a digest of all results, equal on all ranks. After an error the caller must
// report it to the job (Group.Fail).
func Run(ctx context.Context, g Group, cfg Config, r io.Reader, w io.Writer) (digest [32]byte, err error) {
	if err := cfg.Validate(); err != nil {
		return digest, err
	}
	cfg = cfg.withDefaults()
	s := &stream{cfg: cfg, group: g, in: vectorio.NewInput(r, cfg.Frames, cfg.MaxVector), out: w, sum: sha256.New()}
	go s.in.Serve()
	defer close(s.in.Want)
	var reduce func(context.Context, vectorio.Vector) error
	switch {
	case cfg.Op == "gather":
		reduce = s.gather
	case cfg.Type == "f32":
		reduce = (&reducer[float32]{stream: s}).reduce
	case cfg.Type == "i64":
		reduce = (&reducer[int64]{stream: s}).reduce
	default:
		reduce = (&reducer[float64]{stream: s}).reduce
	}
	for s.number = 1; ; s.number++ {
		v, err := s.next(ctx)
		if err != nil {
			return digest, err
		}
		if v.Err != nil && v.Err != io.EOF {
			return digest, s.inputError(v.Err)
		}
		if err := reduce(ctx, v); err == errEnd {
			break
		} else if err != nil {
			return digest, err
		}
	}
	s.sum.Sum(digest[:0])
	return digest, nil
}

// stream is the state of one Run.
type stream struct {
	cfg    Config
	group  Group
	in     *vectorio.Input
	out    io.Writer
	sum    hash.Hash
	number int      // number of the line or frame, from 1
	head   [4]int64 // of compareLengths
	result []byte
	pieces [][]byte
}

// next waits for the next vector, or for the end of the job: the writer of the input
// may be slow, or may wait for a result that will not come.
func (s *stream) next(ctx context.Context) (vectorio.Vector, error) {
	select {
	case s.in.Want <- struct{}{}:
	case <-ctx.Done(): // the reader is still in a read that an earlier call has given up
		return vectorio.Vector{}, context.Cause(ctx)
	}
	select {
	case v := <-s.in.Got:
		return v, nil
	case <-ctx.Done():
		return vectorio.Vector{}, context.Cause(ctx)
	case <-s.group.Failed():
		return vectorio.Vector{}, s.group.Barrier(ctx) // it returns the reason
	}
}

// errEnd means that all inputs have ended.
var errEnd = fmt.Errorf("pipe: the end")

// inputError returns the error for a fault in this rank's input.
func (s *stream) inputError(err error) error {
	return dataErrorf(s.group.Rank(), "%s %d of the input: %v", s.in.Unit, s.number, err)
}

// rankBits is the number of bits of a rank in the numbers that agree compares.
const rankBits = 20

// compareLengths compares the lengths of all ranks' vectors. n is the number of elements; n < 0: the
// input has ended. It returns the largest n, or errEnd.
func (s *stream) compareLengths(ctx context.Context, n int, same bool) (most int, err error) {
	rank := s.group.Rank()
	h := &s.head
	// The maximum over the ranks of: a rank whose input has ended, a rank whose input has not,
	// the largest length with its rank, and the negated smallest length with its rank.
	if n < 0 {
		*h = [4]int64{int64(rank) + 1, 0, math.MinInt64, math.MinInt64}
	} else {
		key := int64(n) << rankBits
		*h = [4]int64{0, int64(rank) + 1, key | int64(rank), -(key | int64(rank))}
	}
	if err := s.group.AllReduce(ctx, allreduce.Vec(h[:]).Named("lengths"), allreduce.Max); err != nil {
		return 0, err
	}
	ended, more := int(h[0])-1, int(h[1])-1
	longest, long := int(h[2]>>rankBits), int(h[2]&(1<<rankBits-1))
	shortest, short := int(-h[3]>>rankBits), int(-h[3]&(1<<rankBits-1))
	switch {
	case more < 0:
		return 0, errEnd
	case ended >= 0:
		return 0, s.sharedError(ctx, "the inputs differ in length: that of rank %d ends after %d %ss, that of rank %d continues", ended, s.number-1, s.in.Unit, more)
	case same && longest != shortest:
		return 0, s.sharedError(ctx, "%s %d: the vectors differ in length: %d elements on rank %d, %d on rank %d", s.in.Unit, s.number, longest, long, shortest, short)
	}
	return longest, nil
}

// sharedError returns the error for a fault that all ranks have found at the same point. It waits
// for all, so that each returns the fault itself and not the loss of a rank that has left.
func (s *stream) sharedError(ctx context.Context, format string, args ...any) error {
	_ = s.group.Barrier(ctx) // the fault is more specific than an error here
	return dataErrorf(s.group.Rank(), format, args...)
}

// write writes a result and adds it to the digest.
func (s *stream) write(result []byte) error {
	s.sum.Write(result)
	if _, err := s.out.Write(result); err != nil {
		return fmt.Errorf("rank %d: cannot write result %d: %w", s.group.Rank(), s.number, err)
	}
	return nil
}
