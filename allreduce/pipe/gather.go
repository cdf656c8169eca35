// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/vectorio"
)

var errNoWeight = errors.New("it is empty: want a weight first")

// gather writes the vectors of all ranks. They are checked and sent unchanged, in pieces of
// at most MaxRecord bytes.
func (s *stream) gather(ctx context.Context, in vectorio.Vector) error {
	n := -1
	if in.Err != io.EOF {
		if err := s.checkType(in.Raw); err != nil {
			return s.inputError(err)
		}
		n = len(in.Raw)
	}
	most, err := s.compareLengths(ctx, n, false)
	if err != nil {
		return err
	}
	all := make([][]byte, s.group.Size())
	for rest := in.Raw; ; {
		piece := rest[:min(len(rest), allreduce.MaxRecord)]
		if s.pieces, err = s.group.AllGatherV(ctx, s.pieces, piece); err != nil {
			return err
		}
		for rank, p := range s.pieces {
			all[rank] = append(all[rank], p...)
		}
		rest = rest[len(piece):]
		if most -= allreduce.MaxRecord; most <= 0 {
			break
		}
	}
	s.result = s.result[:0]
	for _, v := range all {
		if s.cfg.Frames {
			s.result = binary.LittleEndian.AppendUint64(s.result, uint64(len(v)))
			s.result = append(s.result, v...)
		} else {
			s.result = append(append(s.result, v...), '\n')
		}
	}
	return s.write(s.result)
}

// checkType returns an error if raw is not a vector of the type.
func (s *stream) checkType(raw []byte) error {
	switch s.cfg.Type {
	case "f32":
		return check[float32](raw, s.cfg.Frames)
	case "f64":
		return check[float64](raw, s.cfg.Frames)
	case "i64":
		return check[int64](raw, s.cfg.Frames)
	}
	return nil
}

func check[T vectorio.Number](raw []byte, frames bool) error {
	_, err := vectorio.Read[T](nil, raw, frames)
	return err
}
