// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"fmt"
	"strconv"
)

// checkedLines is the number of lines of a source that are checked.
const checkedLines = 16

// formatCheck checks whether the first lines of a source that is read as vw's text are of
// another format, in which case no example would have a feature. A line with a
// bar is vw's text. It gets the lines in the order of the source, so that the result does not
// depend on the sizes of reads.
type formatCheck struct {
	done   bool
	lines  int
	first  []byte // the first line
	libsvm bool   // every line may be LIBSVM's, and one has features
	bare   int    // number of lines that consist of only a number
	json   bool
	cells  [len(separators)]int // of each line, by separators; 0: they differ
}

// separators are those of CSV, in the order in which they are tried.
var separators = [...]byte{',', ';', '\t'}

// add checks further lines. last: the source ends with them.
func (f *formatCheck) add(text []byte, last bool) error {
	if f.lines == 0 && bytes.HasPrefix(text, []byte("PAR1")) {
		return fmt.Errorf("this looks like a Parquet file, and is read as vw's text: give stream.Config.Format=parquet")
	}
	for !f.done && f.lines < checkedLines && len(text) > 0 {
		line := text
		if n := bytes.IndexByte(text, '\n'); n >= 0 {
			line, text = text[:n], text[n+1:]
		} else {
			text = nil
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			f.line(line)
		}
	}
	if f.done || !last && f.lines < checkedLines {
		return nil
	}
	f.done = true
	return f.result()
}

func (f *formatCheck) line(line []byte) {
	object := line[0] == '{' && line[len(line)-1] == '}'
	if bytes.IndexByte(line, '|') >= 0 && !object {
		f.done = true
		return
	}
	if f.lines == 0 {
		f.first, f.libsvm, f.json = bytes.Clone(line), true, true
	}
	f.json = f.json && object
	features, ok := libsvmLine(line)
	f.libsvm = f.libsvm && ok
	if ok && !features {
		f.bare++
	}
	for i, sep := range separators {
		if n := bytes.Count(line, []byte{sep}) + 1; f.lines == 0 {
			f.cells[i] = n
		} else if f.cells[i] != n {
			f.cells[i] = 0
		}
	}
	f.lines++
	f.done = !f.json && !f.libsvm && f.cells == [len(separators)]int{}
}

// libsvmLine reports whether a line is a number and pairs index:value, and whether there
// are pairs.
func libsvmLine(line []byte) (features, ok bool) {
	if i := bytes.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	words := bytes.Fields(line)
	if len(words) == 0 || !number(words[0]) {
		return false, false
	}
	for _, w := range words[1:] {
		index, value, found := bytes.Cut(w, []byte{':'})
		if _, err := strconv.ParseUint(string(index), 10, 64); !found || err != nil && string(index) != "qid" || !number(value) {
			return false, false
		}
	}
	return len(words) > 1, true
}

func number(b []byte) bool {
	_, err := strconv.ParseFloat(string(b), 64)
	return err == nil
}

// result returns an error that names the option for the format; nil: it may be vw's text.
func (f *formatCheck) result() error {
	const as = "and is read as vw's text, whose features follow a bar: give "
	switch {
	case f.lines == 0:
		return nil
	case f.json:
		return fmt.Errorf("this looks like JSON, %sstream.Config.Format=json", as)
	case f.libsvm && f.bare < f.lines:
		return fmt.Errorf("this looks like LIBSVM's format, %sstream.Config.Format=libsvm", as)
	}
	for i, sep := range separators {
		n := f.cells[i]
		// One line of few cells may be a tag, and vw's labels have up to three numbers.
		if n < 2 || f.lines == 1 && n < 3 || sep == '\t' && n < 5 {
			continue
		}
		text := fmt.Sprintf("this looks like CSV of %d columns, %sstream.Config.Format=csv csv.Config.Label=COLUMN (the label's name or number)", n, as)
		switch sep {
		case ';':
			text += " csv.Config.Separator=';'"
		case '\t':
			text += ` csv.Config.Separator='\t'`
		}
		named := false
		for cell := range bytes.SplitSeq(f.first, []byte{sep}) {
			named = named || !number(bytes.TrimSpace(cell))
		}
		if !named {
			text += ", and csv.Config.NoFileHeader csv.Config.Header=NAMES, since the first line names no columns"
		}
		return fmt.Errorf("%s", text)
	}
	return nil
}
