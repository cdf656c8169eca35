// SPDX-License-Identifier: Apache-2.0

package dataorder

import (
	"bufio"
	"errors"
	"io"
)

// Order is the number of predictions of each rank in one pass, and their order.
type Order struct {
	counts []int    // lines of one pass, by rank
	owners []uint16 // lines: the rank of each line of one pass; nil: rank after rank
}

// Merge writes the predictions of all ranks, one line for each, to dst in the order d: pass by pass, as one process would
// have written them. pieces has those of each rank. All must have the same number of complete passes; otherwise Merge
// returns [ErrUneven], perhaps after it has written a part.
func (d Order) Merge(dst io.Writer, pieces []io.Reader) error {
	w := bufio.NewWriterSize(dst, 1<<16)
	in := make([]*bufio.Reader, len(pieces))
	for rank, p := range pieces {
		in[rank] = bufio.NewReaderSize(p, 1<<16)
	}
	for {
		done, err := ended(in, d)
		if err != nil {
			return err
		}
		if done {
			return w.Flush()
		}
		if err := gatherPass(w, in, d); err != nil {
			return err
		}
	}
}

// ended reports whether all pieces have ended. It returns an error if only some have.
func ended(in []*bufio.Reader, d Order) (bool, error) {
	var over, more int
	for rank, r := range in {
		switch _, err := r.Peek(1); {
		case err != nil && err != io.EOF:
			return false, err
		case err == io.EOF && d.counts[rank] > 0:
			over++
		case err == nil && d.counts[rank] == 0:
			return false, ErrUneven
		case err == nil:
			more++
		}
	}
	if over > 0 && more > 0 {
		return false, ErrUneven
	}
	return more == 0, nil
}

// ErrUneven is the error for predictions that do not fit the data, for example because the data
// has changed.
var ErrUneven = errors.New("the ranks' predictions do not fit the lines of the data: did it change during the run?")

// gatherPass copies the predictions of one pass in the order of the data.
func gatherPass(w io.Writer, in []*bufio.Reader, d Order) error {
	if d.owners != nil {
		for _, rank := range d.owners {
			if err := copyLine(w, in[rank]); err != nil {
				return err
			}
		}
		return nil
	}
	for rank, n := range d.counts {
		for range n {
			if err := copyLine(w, in[rank]); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyLine copies one line of any length. The end of the input before the end of the line is
// ErrUneven.
func copyLine(w io.Writer, r *bufio.Reader) error {
	for {
		b, err := r.ReadSlice('\n')
		if _, werr := w.Write(b); werr != nil {
			return werr
		}
		switch err {
		case nil:
			return nil
		case bufio.ErrBufferFull: // a long tag
		case io.EOF:
			return ErrUneven
		default:
			return err
		}
	}
}
