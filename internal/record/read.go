// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// maxLine limits a line of a record, in bytes.
const maxLine = 16 << 20

// Record is the record of a run.
type Record struct {
	Name     string // of the file
	Run      *Run   // nil: the file has none, as one of --log_json
	Machines []Machine
	Passes   []Pass
	Steps    []Step    // by rank, then by number
	Vectors  []Vectors // in the order of the file
	Data     []Data
	Messages []Message
	Ends     []End
	Partial  bool // the last line is incomplete: the run goes on, or was killed
}

// Read reads a record, or a file of --log_json. It ignores events that it does not know. An error names the line, what it
// has and what was expected. name is kept.
func Read(name string, in io.Reader) (*Record, error) {
	r := &Record{Name: name}
	b := bufio.NewReaderSize(in, 1<<16)
	for n := 1; ; n++ {
		line, err := readLine(b)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		last := err == io.EOF
		if text := bytes.TrimSpace(line); len(text) > 0 {
			switch err := r.add(text); {
			case err != nil && last: // it has no end
				r.Partial = true
			case err != nil:
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
		if last {
			break
		}
	}
	if r.Run == nil && len(r.Passes) == 0 && len(r.Steps) == 0 {
		return nil, errors.New("got no event, want those of a record, or lines of a log of passes")
	}
	slices.SortStableFunc(r.Steps, func(a, b Step) int { return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.First, b.First)) })
	slices.SortStableFunc(r.Passes, func(a, b Pass) int { return cmp.Compare(a.Pass, b.Pass) })
	slices.SortStableFunc(r.Messages, func(a, b Message) int { return cmp.Compare(a.Time, b.Time) })
	slices.SortStableFunc(r.Machines, func(a, b Machine) int { return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Attempt, b.Attempt)) })
	slices.SortStableFunc(r.Data, func(a, b Data) int { return cmp.Compare(a.Rank, b.Rank) })
	r.Passes = slices.CompactFunc(r.Passes, func(a, b Pass) bool { return a.Pass == b.Pass })
	return r, nil
}

// readLine reads a line of at most maxLine bytes.
func readLine(b *bufio.Reader) (line []byte, err error) {
	for {
		part, err := b.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("got more than %d bytes, want a line of a record", maxLine)
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// add adds a line.
func (r *Record) add(line []byte) error {
	var h struct {
		Event *string `json:"event"`
		Pass  *int    `json:"pass"`
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return fmt.Errorf("got %s, want a JSON object: %w", quoted(line), err)
	}
	switch {
	case h.Event != nil:
	case h.Pass != nil:
		return appendTo(&r.Passes, line, func(p *Pass) error { p.Time = 0; return p.check() }) // a line of --log_json
	default:
		return fmt.Errorf("got %s, want the field event, or the field pass as in a log of passes", quoted(line))
	}
	switch *h.Event {
	case "run":
		first := Run{}
		if err := decode(line, &first); err != nil {
			return err
		}
		if first.Version > Version || first.Version < 1 {
			return fmt.Errorf("got a record of version %d, want 1 to %d: a newer gvw report reads it", first.Version, Version)
		}
		switch {
		case r.Run == nil:
			r.Run = &first
		case r.Run.ID != first.ID:
			return fmt.Errorf("got an event of run %q, want one of run %q: give each run a file", first.ID, r.Run.ID)
		}
	case "rank":
		return appendTo(&r.Machines, line, nil)
	case "pass":
		return appendTo(&r.Passes, line, (*Pass).check)
	case "step":
		return appendTo(&r.Steps, line, (*Step).check)
	case "vectors":
		return appendTo(&r.Vectors, line, (*Vectors).check)
	case "data":
		return appendTo(&r.Data, line, nil)
	case "log":
		return appendTo(&r.Messages, line, nil)
	case "end":
		return appendTo(&r.Ends, line, nil)
	}
	return nil
}

// appendTo decodes a line, checks it and appends it.
func appendTo[E any](list *[]E, line []byte, check func(*E) error) error {
	var e E
	if err := decode(line, &e); err != nil {
		return err
	}
	if check != nil {
		if err := check(&e); err != nil {
			return err
		}
	}
	*list = append(*list, e)
	return nil
}

func decode(line []byte, e any) error {
	if err := json.Unmarshal(line, e); err != nil {
		return fmt.Errorf("got %s: %w", quoted(line), err)
	}
	return nil
}

func (p *Pass) check() error {
	if p.Pass < 1 {
		return fmt.Errorf("got pass %d, want 1 or more", p.Pass)
	}
	return nil
}

func (s *Step) check() error {
	if s.First < 1 || s.Last < s.First {
		return fmt.Errorf("got steps %d to %d, want numbers from 1 in ascending order", s.First, s.Last)
	}
	if s.Rank < 0 || s.Rank > maxRank {
		return fmt.Errorf("got steps of rank %d, want a rank from 0 to %d", s.Rank, maxRank)
	}
	for _, v := range s.Seconds.Parts() {
		if v < 0 {
			return fmt.Errorf("got a time of %g s, want 0 or more", v)
		}
	}
	return nil
}

func (v *Vectors) check() error {
	if v.Rank < 0 || v.Rank > maxRank {
		return fmt.Errorf("got vectors of rank %d, want a rank from 0 to %d", v.Rank, maxRank)
	}
	return nil
}

// maxRank is the highest rank of a record.
const maxRank = 1<<20 - 1

// quoted returns the begin of a line for a message.
func quoted(line []byte) string {
	const most = 60
	if len(line) > most {
		return fmt.Sprintf("%q…", line[:most])
	}
	return fmt.Sprintf("%q", line)
}

// Merge adds the events of another file of the same run, of another machine.
func (r *Record) Merge(o *Record) {
	r.Machines = append(r.Machines, o.Machines...)
	r.Steps = append(r.Steps, o.Steps...)
	r.Vectors = append(r.Vectors, o.Vectors...)
	r.Data = append(r.Data, o.Data...)
	r.Messages = append(r.Messages, o.Messages...)
	r.Ends = append(r.Ends, o.Ends...)
	if len(r.Passes) == 0 {
		r.Passes = o.Passes
	}
	r.Partial = r.Partial || o.Partial
}
