// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/gvw-project/gvw/hdfsio"
)

// Predictions of several ranks become one file in the order of the data, as one
// process would have written it: pass by pass, line by line.

// dealt says how many predictions each rank's examples make in one pass, and
// in which order they stand.
type dealt struct {
	counts []int    // lines of one pass, by rank
	owners []uint16 // lines: the rank of each line of one pass; nil: rank after rank
}

// gatherPieces writes the ranks' pieces to dst. Any number of whole passes may
// be in them, the same one in all.
func gatherPieces(dst io.Writer, pieces []io.Reader, d dealt) error {
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

// ended reports whether all pieces have ended; that only some have is an error.
func ended(in []*bufio.Reader, d dealt) (bool, error) {
	var over, more int
	for rank, r := range in {
		switch _, err := r.Peek(1); {
		case err != nil && err != io.EOF:
			return false, err
		case err == io.EOF && d.counts[rank] > 0:
			over++
		case err == nil && d.counts[rank] == 0:
			return false, errUneven
		case err == nil:
			more++
		}
	}
	if over > 0 && more > 0 {
		return false, errUneven
	}
	return more == 0, nil
}

// errUneven is for predictions that do not fit the data: it changed while it
// was read.
var errUneven = errors.New("the ranks' predictions do not fit the lines of the data: did it change during the run?")

func gatherPass(w io.Writer, in []*bufio.Reader, d dealt) error {
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
			return errUneven
		default:
			return err
		}
	}
}

// deal reads the data again, to learn which rank's examples are where: line n
// of all files goes to rank (n-1) mod total, contiguous parts go rank after
// rank, and own files are each rank's. Blank lines are no examples.
func deal(fsys hdfsio.FS, kind hdfsio.Kind, files [][]string) (dealt, error) {
	total := len(files)
	d := dealt{counts: make([]int, total)}
	if kind == hdfsio.Lines {
		// All ranks have the same list; every line is looked at once.
		d.owners = []uint16{}
		n := 0
		err := eachLine(fsys, files[0], hdfsio.Shard{}, func(blank bool) {
			if !blank {
				d.owners = append(d.owners, uint16(n%total))
				d.counts[n%total]++
			}
			n++
		})
		return d, err
	}
	for rank := range total {
		err := eachLine(fsys, files[rank], hdfsio.Shard{Kind: kind, Rank: rank, Total: total}, func(blank bool) {
			if !blank {
				d.counts[rank]++
			}
		})
		if err != nil {
			return d, err
		}
	}
	return d, nil
}

// eachLine calls f for every line of a shard.
func eachLine(fsys hdfsio.FS, files []string, s hdfsio.Shard, f func(blank bool)) error {
	parts, err := hdfsio.Split(fsys, files, s)
	if err != nil {
		return err
	}
	buf := bufio.NewReaderSize(nil, 1<<20)
	for _, p := range parts {
		r, err := p.Open()
		if err != nil {
			return err
		}
		buf.Reset(r)
		err = errors.Join(lines(buf, f), r.Close())
		if err != nil {
			return fmt.Errorf("cannot read the data again to order the predictions: %w", err)
		}
	}
	return nil
}

// lines calls f for every line. What is blank to the parser is blank here: at
// most a byte order mark and a carriage return.
func lines(r *bufio.Reader, f func(blank bool)) error {
	inside := false // a line longer than the buffer is under way
	for {
		b, err := r.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			inside = true
		case err != nil && err != io.EOF:
			return err
		case len(b) > 0 || inside:
			b = bytes.TrimPrefix(b, []byte("\ufeff"))
			b = bytes.TrimSuffix(b, []byte("\n"))
			b = bytes.TrimSuffix(b, []byte("\r"))
			f(len(b) == 0 && !inside)
			inside = false
		}
		if err == io.EOF {
			return nil
		}
	}
}
