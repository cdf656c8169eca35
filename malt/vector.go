// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gvw-project/gvw/malt/internal/carrier"
	"github.com/gvw-project/gvw/malt/internal/pack"
)

// Element is the type of a vector's entries.
type Element = pack.Element

// Format is the encoding of updates: plain or compressed. The zero value is plain.
type Format = pack.Format

// The codes of a Format.
const (
	Plain = pack.Plain // all bytes of a value
	F16   = pack.F16   // float16
	Q8    = pack.Q8    // 8 bits
)

// maxDimensions limits VectorConfig.Shape, because ranks compare descriptions of limited length.
const maxDimensions = 4

// VectorConfig configures a vector. It is the same on all ranks.
type VectorConfig struct {
	ObjectConfig
	// Shape has the dimensions of a tensor in row-major order, at most 4; their product is the length. nil: one dimension.
	Shape []int
	// MaxSparse is the largest number of entries of a sparse update; 0: the length. Receive queues have room for the larger
	// of such an update and a dense one. A sparse plain float32 update takes 8 bytes an entry, a dense one 4.
	MaxSparse int
	Format    Format // encoding of updates
	MaxDelay  int    // iterations by which an update may be late; later ones are dropped. 0: any
	// DampLate sets Incoming.Factor to 1/(1+delay) for late updates, by which Sum multiplies them.
	DampLate bool
}

// Incoming is an update that has arrived. Its slices are valid during the call of a Merger.
type Incoming[T Element] struct {
	Rank      int           // of the sender
	Iteration uint64        // the sender's count of updates
	Delay     int64         // this rank's count of updates minus the sender's
	Age       time.Duration // since it was sent, by the clocks of both machines
	// Weight is the mixing weight of the edge in the graph. If an update comes over an edge of another round of a periodic
	// graph, all have the weight of a uniform average.
	Weight  float64
	Factor  float64  // 1, or less for late updates with DampLate
	Scale   float64  // what the sender gave to ScatterScaled; 1 otherwise
	Indices []uint32 // entries of a sparse update; nil: all
	Values  []T
}

// Vector is a vector of which each rank has a local value. Its methods are called by one goroutine at a time.
type Vector[T Element] struct {
	object   *object
	config   VectorConfig
	local    []T
	encoder  *pack.Encoder[T]
	update   encoded
	decoders []*pack.Decoder[T] // one for each update of a gather
	incoming []Incoming[T]
	merged   Stats // what decode has counted
	sums     []T   // scratch of mergers
	counts   []uint32
}

// NewVector creates a vector of length entries, zero at first. All ranks create the same ones in the same order.
func NewVector[T Element](g *Group, name string, length int, c VectorConfig) (*Vector[T], error) {
	e, err := pack.NewEncoder[T](c.Format, length)
	if err != nil {
		return nil, fmt.Errorf("malt: %s: %w", name, err)
	}
	if c.MaxDelay < 0 {
		return nil, fmt.Errorf("malt: %s: MaxDelay: got %d, want 0 or more", name, c.MaxDelay)
	}
	if c.MaxSparse < 0 || c.MaxSparse > length {
		return nil, fmt.Errorf("malt: %s: MaxSparse: got %d, want 0 to the length %d", name, c.MaxSparse, length)
	}
	sparse, limits := length, ""
	if c.MaxSparse > 0 {
		sparse, limits = c.MaxSparse, fmt.Sprintf("/%d", c.MaxSparse)
	}
	c.Shape, err = dimensions(c.Shape, length)
	if err != nil {
		return nil, fmt.Errorf("malt: %s: Shape: %w", name, err)
	}
	var zero T
	shape := fmt.Sprintf("elem=%T length=%d%s shape=%s code=%v", zero, length, limits, times(c.Shape), c.Format.Code)
	size := max(pack.MaxSize[T](c.Format, length, 0), pack.MaxSize[T](c.Format, length, sparse))
	v := &Vector[T]{config: c, local: make([]T, length), encoder: e}
	if v.object, err = g.newObject(name, shape, size, c.ObjectConfig, holder{v.state, v.restore}); err != nil {
		return nil, err
	}
	return v, nil
}

// state returns the local value without compression.
func (v *Vector[T]) state() ([]byte, error) {
	e, err := pack.NewEncoder[T](Format{}, len(v.local))
	if err != nil {
		return nil, err
	}
	return e.AppendDense(nil, v.local)
}

// restore replaces the local value by what state has returned on another rank.
func (v *Vector[T]) restore(state []byte) error {
	u, err := pack.NewDecoder[T](len(v.local)).Decode(state)
	if err == nil && u.Indices != nil {
		err = errors.New("got a sparse update, want all values")
	}
	if err != nil {
		return err
	}
	copy(v.local, u.Values)
	return nil
}

// dimensions returns a copy of a shape, or one dimension if there is none. The product must be length.
func dimensions(shape []int, length int) ([]int, error) {
	if shape == nil {
		return []int{length}, nil
	}
	rest := length
	for _, n := range shape {
		if n < 1 || rest%n != 0 {
			rest = 0 // the product differs
			break
		}
		rest /= n
	}
	if rest != 1 || len(shape) > maxDimensions {
		return nil, fmt.Errorf("got %s, want at most %d dimensions with the product %d", times(shape), maxDimensions, length)
	}
	return slices.Clone(shape), nil
}

// times returns a shape in the form 3x4.
func times(shape []int) string {
	var b []byte
	for i, n := range shape {
		if i > 0 {
			b = append(b, 'x')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return string(b)
}

// Shape returns the dimensions of the vector. The caller does not change them.
func (v *Vector[T]) Shape() []int { return v.config.Shape }

// Row returns the part of the local value with index i in the first dimension: a row of a matrix, or an entry of a
// vector. The caller may change it between calls.
func (v *Vector[T]) Row(i int) []T {
	n := len(v.local) / v.config.Shape[0]
	return v.local[i*n : (i+1)*n : (i+1)*n]
}

// Values returns the local value, which the caller may change between calls.
func (v *Vector[T]) Values() []T { return v.local }

// Iteration returns the number of updates that this rank has sent.
func (v *Vector[T]) Iteration() uint64 { return v.object.iteration() }

// Scatter sends the local value to the receivers of the round. It returns when the value is copied; the network
// takes it later.
func (v *Vector[T]) Scatter(ctx context.Context) error { return v.ScatterScaled(ctx, 1) }

// ScatterScaled is Scatter with a factor that receivers get as Incoming.Scale, for models of the form
// scale × values.
func (v *Vector[T]) ScatterScaled(ctx context.Context, scale float64) error {
	return v.object.scatter(ctx, scale, v.dense(v.local))
}

// ScatterValues sends other values than the local one, such as a gradient. They number the vector's length.
func (v *Vector[T]) ScatterValues(ctx context.Context, values []T) error {
	return v.object.scatter(ctx, 1, v.dense(values))
}

// ScatterSparse sends some entries, at most VectorConfig.MaxSparse. Each index occurs once.
func (v *Vector[T]) ScatterSparse(ctx context.Context, indices []uint32, values []T) error {
	if limit := v.config.MaxSparse; limit > 0 && len(indices) > limit {
		return fmt.Errorf("malt: %s: got %d entries, want at most MaxSparse=%d: send all values, or raise it", v.object.spec.Name, len(indices), limit)
	}
	v.update.done = false
	return v.object.scatter(ctx, 1, func(dst []byte) (head, view []byte, err error) {
		if v.update.done {
			return v.update.repeat(dst)
		}
		head, err = v.encoder.AppendSparse(dst, indices, values)
		return v.update.keep(head, nil, err)
	})
}

// dense returns a function that encodes a dense update.
func (v *Vector[T]) dense(values []T) carrier.Fill {
	v.update.done = false
	return func(dst []byte) (head, view []byte, err error) {
		if v.update.done {
			return v.update.repeat(dst)
		}
		return v.update.keep(v.encoder.AppendHead(dst, values))
	}
}

// encoded is the update that is being sent. If the membership ends meanwhile it is sent again as it was encoded: another
// encoding would add what the first one has dropped, and thus count it twice.
type encoded struct {
	done       bool
	head, view []byte
}

// keep sets e, and returns the arguments.
func (e *encoded) keep(head, view []byte, err error) ([]byte, []byte, error) {
	*e = encoded{err == nil, head, view}
	return head, view, err
}

// repeat is the function of keep's arguments once more.
func (e *encoded) repeat(dst []byte) (head, view []byte, err error) {
	return append(dst, e.head...), e.view, nil
}

// Gather merges the updates that have arrived into the local value, and returns their number. Whether it waits
// for some depends on VectorConfig.Sync. If the membership of the job changes meanwhile, Gather returns without
// updates.
//
// A sender that writes to this rank's memory (Stats.Written) may overwrite the values of a dense update in plain
// format while they are merged. The merged values are then partly of a newer update of the same sender, which
// stochastic training tolerates. [Vector.AtomicGather] does not have this effect.
func (v *Vector[T]) Gather(ctx context.Context, merge Merger[T]) (n int, err error) {
	return v.gather(ctx, false, merge)
}

// AtomicGather is Gather whose updates never change during the call. It copies those that senders might
// overwrite, and verifies the copies.
func (v *Vector[T]) AtomicGather(ctx context.Context, merge Merger[T]) (n int, err error) {
	return v.gather(ctx, true, merge)
}

func (v *Vector[T]) gather(ctx context.Context, whole bool, merge Merger[T]) (n int, err error) {
	err = v.object.gather(ctx, whole, func(arrived []carrier.Arrival) {
		v.decode(arrived)
		if n = len(v.incoming); n > 0 {
			merge(v, v.incoming)
		}
	})
	return n, err
}

// decode makes incoming of what has arrived.
func (v *Vector[T]) decode(arrived []carrier.Arrival) {
	v.incoming = v.incoming[:0]
	now := time.Now().UnixNano()
	for i := range arrived {
		a := &arrived[i]
		delay := int64(v.object.iteration()) - int64(a.Iteration)
		if v.config.MaxDelay > 0 && delay > int64(v.config.MaxDelay) {
			continue
		}
		if len(v.decoders) == len(v.incoming) {
			v.decoders = append(v.decoders, pack.NewDecoder[T](len(v.local)))
		}
		u, ok, err := v.read(v.decoders[len(v.incoming)], a)
		if !ok {
			continue
		}
		if err != nil { // its checksum was right: the sender runs another program
			v.merged.Damaged++
			v.object.g.cfg.Log.Warn("dropped an update that does not decode", "rank", v.object.g.cfg.Rank, "from", a.From, "object", v.object.spec.Name, "err", err)
			continue
		}
		in := Incoming[T]{
			Rank: a.From, Iteration: a.Iteration, Delay: delay, Age: time.Duration(now - a.Sent),
			Weight: a.Weight, Factor: 1, Scale: a.Scale, Indices: u.Indices, Values: u.Values,
		}
		if v.config.DampLate && delay > 0 {
			in.Factor = 1 / float64(1+delay)
		}
		v.incoming = append(v.incoming, in)
		late := uint64(max(delay, 0))
		v.merged.Add(Stats{Merged: 1, Behind: late, Oldest: late})
	}
}

// read decodes an update. If the sender may overwrite it, only a view of values of which any are valid is used, and
// all else is copied first: indices must not change once they have been checked. ok is false if the sender
// has overwritten the update.
func (v *Vector[T]) read(d *pack.Decoder[T], a *carrier.Arrival) (u pack.Update[T], ok bool, err error) {
	if a.Shared() {
		if u, ok = d.View(a.Data); ok {
			return u, true, nil
		}
		if !a.Own() {
			return u, false, nil
		}
	}
	u, err = d.Decode(a.Data)
	return u, true, err
}

// Barrier is [Group.Barrier].
func (v *Vector[T]) Barrier(ctx context.Context) error { return v.object.g.Barrier(ctx) }

// Stats returns what this rank has sent and received.
func (v *Vector[T]) Stats() Stats {
	s := v.object.stats()
	s.Add(v.merged)
	return s
}

// newest keeps the last update of each sender; a dense update replaces all that its sender sent before.
func newest[T Element](in []Incoming[T]) []Incoming[T] {
	kept := in[:0]
	for _, u := range in {
		if n := len(kept); u.Indices == nil && n > 0 && kept[n-1].Rank == u.Rank {
			for n > 0 && kept[n-1].Rank == u.Rank {
				n--
			}
			kept = kept[:n]
		}
		kept = append(kept, u)
	}
	return slices.Clip(kept)
}
