// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gvw-project/gvw/internal/vectorio"
	"github.com/gvw-project/gvw/malt"
)

var (
	// Mergers are the values of Config.Merge.
	Mergers = []string{"average", "weighted", "sum", "replace"}
	// Types are the values of Config.Type.
	Types = []string{"f32", "f64"}
)

// Config describes the exchange. All ranks have the same.
type Config struct {
	Vector    malt.VectorConfig // graph, synchrony and encoding of the shared vector
	Merge     string            // one of Mergers; "": average
	Type      string            // of the elements, one of Types; "": f64
	Frames    bool              // read and write length-prefixed binary vectors instead of lines
	MaxVector int               // limit of a line or a frame in bytes; 0: 1 GiB
}

func (c Config) withDefaults() Config {
	if c.Merge == "" {
		c.Merge = Mergers[0]
	}
	vectorio.SetDefaults(&c.Type, &c.MaxVector)
	return c
}

// Validate reports all faults, except those of Vector, which depend on the job.
func (c Config) Validate() error {
	c = c.withDefaults()
	var faults []error
	if !slices.Contains(Mergers, c.Merge) {
		faults = append(faults, fmt.Errorf("pipe: Merge: got %q, want one of %v", c.Merge, Mergers))
	}
	faults = append(faults, vectorio.CheckType(c.Type, Types), vectorio.CheckMax(c.MaxVector))
	return errors.Join(faults...)
}

// DataError reports a fault in the input of a rank.
type DataError struct {
	Rank int
	Text string
}

func (e *DataError) Error() string { return fmt.Sprintf("rank %d: %s", e.Rank, e.Text) }

// Run reads vectors from r until its end, and writes one result for each to w. Then it waits until all ranks are
// done. With a nil group the process is the only rank, and each result is the vector itself.
func Run(ctx context.Context, g *malt.Group, cfg Config, r io.Reader, w io.Writer) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	cfg = cfg.withDefaults()
	rounds := func() error {
		if cfg.Type == "f32" {
			return exchange[float32](ctx, g, cfg, r, w)
		}
		return exchange[float64](ctx, g, cfg, r, w)
	}
	if g == nil {
		return rounds()
	}
	if err := g.Protect(rounds); err != nil {
		return err
	}
	return g.Done(ctx)
}

// exchange makes a round for each vector.
func exchange[T malt.Element](ctx context.Context, g *malt.Group, cfg Config, r io.Reader, w io.Writer) error {
	in := vectorio.NewInput(r, cfg.Frames, cfg.MaxVector)
	go in.Serve()
	defer close(in.Want)
	x := exchanger[T]{group: g, config: cfg.Vector, merge: merger[T](cfg.Merge)}
	var values []T
	var result []byte
	for number := 1; ; number++ {
		raw, err := next(ctx, in)
		if err == io.EOF && number == 1 { // the others would wait for this rank's shared vector
			return x.fault("the input has no vector, so its length is unknown: write at least one")
		}
		if err == io.EOF {
			return nil
		}
		if err == nil {
			values, err = vectorio.Read(values[:0], raw, cfg.Frames)
		}
		if err == nil && number == 1 && len(values) > 0 {
			x.length = len(values)
			if err := x.begin(); err != nil {
				return err
			}
		}
		if err == nil && len(values) == 0 {
			err = errors.New("got 0 numbers, want at least 1")
		}
		if err == nil && len(values) != x.length {
			err = fmt.Errorf("got %d numbers, want %d, as in the first", len(values), x.length)
		}
		if err != nil {
			return x.fault(fmt.Sprintf("%s %d of the input: %v", in.Unit, number, err))
		}
		if err := x.round(ctx, values); err != nil {
			return err
		}
		result = vectorio.Write(result[:0], values, cfg.Frames)
		if _, err := w.Write(result); err != nil {
			return fmt.Errorf("cannot write result %d: %w", number, err)
		}
	}
}

// exchanger exchanges the vectors of one process.
type exchanger[T malt.Element] struct {
	group  *malt.Group // nil: no other ranks
	config malt.VectorConfig
	merge  malt.Merger[T]
	length int
	shared *malt.Vector[T] // nil without a group
}

// fault returns an error for the input of this rank.
func (x *exchanger[T]) fault(text string) error {
	rank := 0
	if x.group != nil {
		rank = x.group.Rank()
	}
	return &DataError{rank, text}
}

// begin creates the shared vector when its length is known.
func (x *exchanger[T]) begin() (err error) {
	if x.group != nil {
		x.shared, err = malt.NewVector[T](x.group, "pipe", x.length, x.config)
	}
	return err
}

// round replaces values by what a round makes of them.
func (x *exchanger[T]) round(ctx context.Context, values []T) error {
	if x.group == nil {
		return nil
	}
	copy(x.shared.Values(), values)
	if err := x.shared.Scatter(ctx); err != nil {
		return err
	}
	_, err := x.shared.Gather(ctx, x.merge)
	copy(values, x.shared.Values())
	return err
}

// next returns the next vector of the input, or io.EOF.
func next(ctx context.Context, in *vectorio.Input) ([]byte, error) {
	select {
	case in.Want <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case v := <-in.Got:
		return v.Raw, v.Err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// merger returns the merger of a name.
func merger[T malt.Element](name string) malt.Merger[T] {
	switch name {
	case "weighted":
		return malt.WeightedAverage[T]
	case "sum":
		return malt.Sum[T]
	case "replace":
		return malt.Replace[T]
	}
	return malt.AverageIncludingSelf[T]
}
