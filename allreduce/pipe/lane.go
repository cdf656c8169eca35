// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"io"

	"github.com/gvw-project/gvw/allreduce"
)

// lane reduces vectors of one type.
type lane[T number] struct {
	*stream
	v []T
}

// reduce makes the result of one vector of each rank.
func (l *lane[T]) reduce(ctx context.Context, in vector) error {
	n := -1
	if in.err != io.EOF {
		var err error
		if l.cfg.Frames {
			l.v, err = decode(l.v[:0], in.raw)
		} else {
			l.v, err = parse(l.v[:0], in.raw)
		}
		if err == nil && l.cfg.Op == "weighted_avg" && len(l.v) == 0 {
			err = errNoWeight
		}
		if err != nil {
			return l.bad(err)
		}
		n = len(l.v)
	}
	if _, err := l.agree(ctx, n, true); err != nil {
		return err
	}
	v, err := l.combined(ctx)
	if err != nil {
		return err
	}
	if l.cfg.Frames {
		l.result = encode(l.result[:0], v)
	} else {
		l.result = format(l.result[:0], v)
	}
	return l.write(l.result)
}

// combined is the result of the vectors of all ranks.
func (l *lane[T]) combined(ctx context.Context) ([]T, error) {
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
			return nil, l.agreed(ctx, "%s %d: the weights of all ranks add up to %v: an average needs more than 0", l.in.unit, l.number, by)
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

// vec is the view of a vector.
func vec[T number](v []T) allreduce.Vector {
	switch v := any(v).(type) {
	case []float32:
		return allreduce.Vec(v)
	case []float64:
		return allreduce.Vec(v)
	case []int64:
		return allreduce.Vec(v)
	}
	panic("BUG: pipe: a vector of no type")
}
