// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/feature"
)

// maxLine bounds a line of a model's text: a name and a few numbers.
const maxLine = 1 << 20

// IsText reports whether a file with this head (8 or more bytes) is the text of a model.
func IsText(head []byte) bool { return bytes.HasPrefix(head, []byte("Version ")) }

// ReadText reads the text of --readable_model and of --invert_hash. name, unless nil, is called
// with the names of the latter; the names of one weight follow each other. The header is
// verified by its checksum; numbers are as precise as the text. A text of a test (-t) has the
// weights without the sums for further training, as vw writes it; the result has no Resume then.
func ReadText(r io.Reader, lim Limits, name func(index uint32, name string)) (*Regressor, error) {
	if lim.Bits == 0 {
		lim.Bits = defaultMaxBits
	}
	t := &textReader{r: bufio.NewReaderSize(r, 1<<16), reg: &Regressor{}}
	floats, err := t.head(lim)
	if err != nil {
		return nil, err
	}
	line, err := t.line("weights")
	if err == nil && t.reg.Resume != nil && len(strings.Fields(line[strings.LastIndexByte(line, ':')+1:])) == 1 {
		t.reg.Resume, floats = nil, 1
	}
	v := View{Data: make([]float32, floats<<t.reg.Bits), Stride: floats}
	for i := range floats {
		v.Slots = append(v.Slots, i)
	}
	t.reg.Weights = v
	for ; err == nil; line, err = t.line("weights") {
		if err := t.weight(line, floats, name); err != nil {
			return nil, err
		}
	}
	if err != io.EOF {
		return nil, err
	}
	return t.reg, nil
}

// textReader reads a model's text line by line.
type textReader struct {
	r      *bufio.Reader
	reg    *Regressor
	offset int64 // offset of the last line
	next   int64
	sum    uint32
}

// line returns the next line without its end; io.EOF after the last.
func (t *textReader) line(field string) (string, error) {
	t.offset = t.next
	var line []byte
	for {
		part, err := t.r.ReadSlice('\n')
		line = append(line, part...)
		t.next += int64(len(part))
		switch {
		case len(line) > maxLine:
			return "", fail(t.offset, field, ErrLimit, "a line of over %d bytes", maxLine)
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(line) == 0:
			return "", io.EOF
		case err == io.EOF:
			return "", fail(t.offset, field, ErrTruncated, "the last line has no end: the file was not written or copied to its end")
		case err != nil:
			return "", fail(t.offset, field, err, "")
		}
		return string(line[:len(line)-1]), nil
	}
}

// after reads a line of the header, checks its prefix and returns the rest.
func (t *textReader) after(prefix string) (string, error) {
	field := strings.TrimRight(prefix, " :")
	line, err := t.line(field)
	if err == io.EOF {
		return "", fail(t.offset, field, ErrTruncated, "the file ends")
	}
	if err != nil {
		return "", err
	}
	rest, ok := strings.CutPrefix(line, prefix)
	if !ok {
		kind := ErrDamaged
		if t.offset == 0 {
			kind = ErrNotModel
		}
		return "", fail(t.offset, field, kind, "got %.40q, want %q", line, prefix)
	}
	return rest, nil
}

// piece adds a part of the header to the checksum.
func (t *textReader) piece(s string) { t.sum = feature.Murmur3([]byte(s), t.sum) }

// number reads a header line of one number.
func (t *textReader) number(prefix string, v any) error {
	text, err := t.after(prefix)
	if err != nil {
		return err
	}
	t.piece(prefix + text + "\n")
	return t.parse(prefix, text, v)
}

// parse reads one number.
func (t *textReader) parse(prefix, text string, v any) (err error) {
	switch v := v.(type) {
	case *float32:
		var f float64
		f, err = strconv.ParseFloat(text, 32)
		*v = float32(f)
	case *float64:
		*v, err = strconv.ParseFloat(text, 64)
	case *uint64:
		*v, err = strconv.ParseUint(text, 10, 64)
	}
	if err != nil {
		return fail(t.offset, strings.TrimRight(prefix, " :"), ErrDamaged, "%.40q is no number", text)
	}
	return nil
}

// head reads the lines before the weights, and returns the number of floats per weight.
func (t *textReader) head(lim Limits) (floats int, err error) {
	h := &t.reg.Header
	if h.Version, err = t.after("Version "); err != nil {
		return 0, err
	}
	ver, ok := parseVersion(h.Version)
	if !ok || ver.less(version{9, 0, 0}) || !ver.less(version{10, 0, 0}) {
		return 0, fail(0, "version", ErrVersion, "%q: the text of vw 9 and of gvw is read", h.Version)
	}
	if h.ID, err = t.after("Id "); err != nil {
		return 0, err
	}
	t.piece("Id " + h.ID + "\n")
	var bits, lda uint64
	for _, f := range []struct {
		prefix string
		v      any
	}{{"Min label:", &h.MinLabel}, {"Max label:", &h.MaxLabel}, {"bits:", &bits}, {"lda:", &lda}} {
		if err := t.number(f.prefix, f.v); err != nil {
			return 0, err
		}
	}
	switch {
	case bits < 1 || bits > maxBits || lda > 1<<32-1:
		return 0, fail(t.offset, "bits", ErrDamaged, "%d bits and %d topics", bits, lda)
	case uint(bits) > lim.Bits:
		return 0, fail(t.offset, "bits", ErrLimit, "the model has 2^%d weights, at most 2^%d are allowed", bits, lim.Bits)
	}
	h.Bits, h.LDA = uint(bits), uint32(lda)
	if h.NGrams, err = t.list("ngram"); err != nil {
		return 0, err
	}
	if h.Skips, err = t.list("skip"); err != nil {
		return 0, err
	}
	options, err := t.after("options:")
	if err != nil {
		return 0, err
	}
	t.piece("options:" + options + "\n")
	if h.Options, err = ParseOptions(options); err != nil {
		return 0, fail(t.offset, "options", ErrDamaged, "%v", err)
	}
	want := t.sum
	sum, err := t.after("Checksum: ")
	if err != nil {
		return 0, err
	}
	if got, err := strconv.ParseUint(sum, 10, 32); err != nil || uint32(got) != want {
		return 0, fail(t.offset, "checksum", ErrDamaged, "the file says %.20s, its header gives %d: it was changed by hand", sum, want)
	}
	if option := h.binaryOnly(); option != "" && option != "stage_poly" { // whose text has all but its section, so its weights can be shown
		return 0, fail(t.offset, "options", ErrVersion, "models with the kept option %s are not read from text: give the binary model", option)
	}
	return t.resume()
}

// list reads "2 ngram:a2 3 ".
func (t *textReader) list(name string) ([]string, error) {
	line, err := t.after("")
	if err != nil {
		return nil, err
	}
	count, rest, ok := strings.Cut(line, " "+name+":")
	n, nerr := strconv.Atoi(count)
	values := strings.Fields(rest)
	if !ok || nerr != nil || n != len(values) || n > maxList {
		return nil, fail(t.offset, name, ErrDamaged, "got %.40q, want a count, %q and as many words", line, name+":")
	}
	t.piece(count + " " + name + ":")
	for _, v := range values {
		t.piece(v + " ")
	}
	t.piece("\n")
	return values, nil
}

// resume reads the flag and the block that follows it.
func (t *textReader) resume() (floats int, err error) {
	flag, err := t.after(":")
	switch {
	case err != nil:
		return 0, err
	case flag == "0":
		return 1, nil
	case flag != "1":
		return 0, fail(t.offset, "resume flag", ErrDamaged, "%.20q, want 0 or 1", flag)
	case t.reg.Kind() == BFGS:
		return 0, fail(t.offset, "resume flag", ErrVersion, "this learner's state is not read from text")
	}
	t.reg.Resume = &Resume{Contraction: 1}
	if t.reg.Has("per_model_save_load") {
		n, err := t.reg.readModels(t.offset)
		if err != nil {
			return 0, err
		}
		t.reg.Resume.setModels(n)
	}
	for _, f := range t.reg.Resume.fields() {
		text, err := t.after(f.name + " ")
		if err == nil {
			err = t.parse(f.name, text, f.value)
		}
		if err != nil {
			return 0, err
		}
	}
	return t.reg.floats(), nil
}

// weight reads [name:]index:w[ g n].
func (t *textReader) weight(line string, floats int, name func(uint32, string)) error {
	colon := strings.LastIndexByte(line, ':')
	if colon < 0 {
		return fail(t.offset, "weights", ErrDamaged, "%.40q is not index:weight", line)
	}
	left, numbers := line[:colon], strings.Fields(line[colon+1:])
	called := ""
	if i := strings.LastIndexByte(left, ':'); i >= 0 {
		called, left = left[:i], left[i+1:]
	}
	index, err := strconv.ParseUint(left, 10, 32)
	switch {
	case err != nil || index >= 1<<t.reg.Bits:
		return fail(t.offset, "weights", ErrDamaged, "%.20q is no number of one of 2^%d weights", left, t.reg.Bits)
	case len(numbers) != floats:
		return fail(t.offset, "weights", ErrDamaged, "weight %d has %d numbers, want %d", index, len(numbers), floats)
	}
	if name != nil && called != "" {
		name(uint32(index), called)
	}
	for k, text := range numbers {
		if err := t.parse(fmt.Sprintf("weight %d", index), text, &t.reg.Weights.Data[int(index)*floats+k]); err != nil {
			return err
		}
	}
	return nil
}
