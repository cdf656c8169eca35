// SPDX-License-Identifier: Apache-2.0

package parquet

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// File is a file whose metadata was read.
type File struct {
	r       io.ReaderAt
	size    int64
	columns []column
	groups  []rowGroup
	rows    int64
	cells   int // of a line
	label   int // column of labels; -1: none
	weight  int // column of importance weights beside labels; -1: none
}

// Open reads the metadata of a file.
func Open(r io.ReaderAt, size int64) (*File, error) {
	schema, groups, err := readFooter(r, size)
	if err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	f := &File{r: r, size: size, groups: groups}
	var leaves int
	if f.columns, leaves, err = columns(schema); err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	if f.label, f.weight = f.find("_label"), -1; f.label >= 0 {
		f.weight = f.find("_weight")
	}
	if f.cells = len(f.columns); f.weight >= 0 {
		f.cells--
	}
	for i := range groups {
		g := &groups[i]
		if g.rows < 0 || g.rows > 1<<48 || len(g.chunks) != leaves {
			return nil, fmt.Errorf("parquet: row group %d: %w", i+1, errMetadata)
		}
		f.rows += g.rows
	}
	if len(f.columns) == 0 {
		return nil, fmt.Errorf("parquet: the file has no columns")
	}
	return f, nil
}

// Rows returns the number of rows.
func (f *File) Rows() int64 { return f.rows }

// Part is a selection of rows, from 0: those of [From, To) whose number has the remainder Rank modulo Total.
type Part struct {
	From, To    int64
	Rank, Total int64 // Total 0: all of them
}

// CSV returns the rows of a part as text with a header.
func (f *File) CSV(p Part) io.Reader { return &csvReader{f: f, part: p, line: f.header()} }

// header returns the names of the columns as a line. The columns of label and weight become one.
func (f *File) header() []byte {
	var line []byte
	for i := range f.columns {
		if i != f.weight {
			line = append(appendText(line, []byte(f.columns[i].name)), ',')
		}
	}
	return f.endLine(line)
}

// endLine replaces the comma behind the last cell. In a file with one column, that comma remains before a second
// column, without a name or a value, because CSV has no empty lines.
func (f *File) endLine(line []byte) []byte {
	if f.cells == 1 {
		return append(line, '\n')
	}
	line[len(line)-1] = '\n'
	return line
}

func (f *File) find(name string) int {
	return slices.IndexFunc(f.columns, func(c column) bool { return c.name == name })
}

// csvReader writes rows as lines.
type csvReader struct {
	f     *File
	part  Part
	group int   // the next one
	row   int64 // the next one, of the file
	end   int64 // of the open row group
	cells []*cells
	texts [][]byte // of a row
	line  []byte   // bytes that Read has to return
	err   error
}

const batchBytes = 64 << 10

func (r *csvReader) Read(b []byte) (int, error) {
	for len(r.line) == 0 && r.err == nil {
		r.line = r.line[:0]
		r.fill()
	}
	if len(r.line) == 0 {
		return 0, r.err
	}
	n := copy(b, r.line)
	r.line = r.line[n:]
	return n, nil
}

// fill sets line to the next rows.
func (r *csvReader) fill() {
	line := make([]byte, 0, batchBytes+batchBytes/4)
	for len(line) < batchBytes && r.err == nil {
		if r.row == r.end {
			r.err = r.open()
			continue
		}
		if r.row >= r.part.To {
			r.err = io.EOF
			break
		}
		var err error
		if line, err = r.append(line); err != nil {
			r.err = err
		}
	}
	r.line = line
}

// open opens the next row group that has rows of the part.
func (r *csvReader) open() error {
	for ; r.group < len(r.f.groups); r.group++ {
		g := &r.f.groups[r.group]
		r.row = r.end
		r.end += g.rows
		if r.end <= r.part.From || g.rows == 0 {
			continue
		}
		if r.row >= r.part.To {
			return io.EOF
		}
		r.cells = r.cells[:0]
		for i := range r.f.columns {
			c, err := openCells(r.f.r, r.f.size, &r.f.columns[i], g)
			if err != nil {
				return fmt.Errorf("row group %d, column %s: %w", r.group+1, r.f.columns[i].name, err)
			}
			r.cells = append(r.cells, c)
		}
		r.group++
		return nil
	}
	return io.EOF
}

// append appends the next row, if it belongs to the part.
func (r *csvReader) append(line []byte) ([]byte, error) {
	r.texts = r.texts[:0]
	for _, c := range r.cells {
		text, err := c.next()
		if err != nil {
			return line, fmt.Errorf("row %d, column %s: %w", r.row+1, c.col.name, err)
		}
		r.texts = append(r.texts, text)
	}
	row := r.row
	r.row++
	if row < r.part.From || r.part.Total > 0 && row%r.part.Total != r.part.Rank {
		return line, nil
	}
	for i, text := range r.texts {
		switch {
		case i == r.f.weight:
			continue
		case i == r.f.label && r.f.weight >= 0:
			line = appendLabel(line, text, r.texts[r.f.weight])
		default:
			line = append(line, text...)
		}
		line = append(line, ',')
	}
	return r.f.endLine(line), nil
}

// appendLabel appends a label and its weight as one cell.
func appendLabel(line, label, weight []byte) []byte {
	if len(label) == 0 || len(weight) == 0 {
		return append(line, label...)
	}
	line = append(append(line, '"'), bytes.Trim(label, `"`)...)
	line = append(append(line, ' '), bytes.Trim(weight, `"`)...)
	return append(line, '"')
}
