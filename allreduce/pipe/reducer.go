// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"io"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/vectorio"
)

// reducer reduces vectors of one type of elements.
type reducer[T vectorio.Number] struct {
	*stream
	v []T
}

// reduce writes the result of one vector of each rank.
func (l *reducer[T]) reduce(ctx context.Context, in vectorio.Vector) error {
	n := -1
	if in.Err != io.EOF {
		var err error
		l.v, err = vectorio.Read(l.v[:0], in.Raw, l.cfg.Frames)
		if err == nil && l.cfg.Op == "weighted_avg" && len(l.v) == 0 {
			err = errNoWeight
		}
		if err != nil {
			return l.inputError(err)
		}
		n = len(l.v)
	}
	if _, err := l.compareLengths(ctx, n, true); err != nil {
		return err
	}
	v, err := l.allReduce(ctx)
	if err != nil {
		return err
	}
	l.result = vectorio.Write(l.result[:0], v, l.cfg.Frames)
	return l.write(l.result)
}

// allReduce returns the result of the vectors of all ranks.
func (l *reducer[T]) allReduce(ctx context.Context) ([]T, error) {
	op := allreduce.Sum
	switch l.cfg.Op {
	case "max":
		op = allreduce.Max
	case "min":
		op = allreduce.Min
	case "weighted_avg":
		for i := range l.v[1:] {
			l.v[i+1] *= l.v[0]
		}
	}
	if err := l.group.AllReduce(ctx, vec(l.v), op); err != nil {
		return nil, err
	}
	v, by := l.v, T(l.group.Size())
	switch l.cfg.Op {
	case "weighted_avg":
		v, by = l.v[1:], l.v[0]
		if !(by > 0) {
			return nil, l.sharedError(ctx, "%s %d: the weights of all ranks add up to %v: want more than 0", l.in.Unit, l.number, by)
		}
	case "avg":
	default:
		return v, nil
	}
	for i := range v {
		v[i] /= by
	}
	return v, nil
}

// vec returns v as a vector of package allreduce.
func vec[T vectorio.Number](v []T) allreduce.Vector {
	switch v := any(v).(type) {
	case []float32:
		return allreduce.Vec(v)
	case []float64:
		return allreduce.Vec(v)
	case []int64:
		return allreduce.Vec(v)
	}
	panic("BUG: pipe: vector of unknown type")
}
