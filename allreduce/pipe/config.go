// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gvw-project/gvw/internal/vectorio"
)

var (
	// Ops are the values of Config.Op.
	Ops = []string{"sum", "max", "min", "avg", "weighted_avg", "gather"}
	// Types are the values of Config.Type.
	Types = []string{"f32", "f64", "i64", "text"}
)

// Config describes the reduction.
type Config struct {
	// Op is the operation, one of Ops. Required.
	Op string
	// Type is the type of the elements, one of Types. "": f64. text is only for
	// gather.
	Type string
	// Frames reads and writes length-prefixed binary vectors instead of lines.
	Frames bool
	// MaxVector is the limit of a line or a frame in bytes; 0: 1 GiB.
	MaxVector int
}

func (c Config) withDefaults() Config {
	vectorio.SetDefaults(&c.Type, &c.MaxVector)
	return c
}

// Validate reports all faults of c.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	if !slices.Contains(Ops, c.Op) {
		errs = append(errs, fmt.Errorf("pipe: Op: got %q, want one of %v", c.Op, Ops))
	}
	errs = append(errs, vectorio.CheckType(c.Type, Types))
	switch {
	case c.Type == "text" && c.Op != "gather":
		errs = append(errs, fmt.Errorf("pipe: Type: text can only be gathered, not reduced by %s", c.Op))
	case c.Type == "i64" && (c.Op == "avg" || c.Op == "weighted_avg"):
		errs = append(errs, fmt.Errorf("pipe: Type: whole numbers have no %s: want f32 or f64", c.Op))
	}
	errs = append(errs, vectorio.CheckMax(c.MaxVector))
	return errors.Join(errs...)
}

// DataError reports a fault in the input of one or two ranks.
type DataError struct {
	Rank int // the rank that returns the error
	Text string
}

func (e *DataError) Error() string { return fmt.Sprintf("rank %d: %s", e.Rank, e.Text) }

func dataErrorf(rank int, format string, args ...any) error {
	return &DataError{rank, fmt.Sprintf(format, args...)}
}
