// SPDX-License-Identifier: Apache-2.0

package csr_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/csr"
	"github.com/gvw-project/gvw/feature/internal/featuretest"
)

// row is a row of a frame, and the line of vw's text that has the same example.
type row struct {
	label, weight float32
	indices       []uint32
	values        []float32
}

// frame writes a frame.
func frame(flags uint32, rows []row) []byte {
	le := binary.LittleEndian
	count := 0
	for _, r := range rows {
		if count += len(r.values); flags&csr.Dense != 0 {
			count = len(r.values)
		}
	}
	b := le.AppendUint32(le.AppendUint32(le.AppendUint32([]byte(csr.Magic), flags), uint32(len(rows))), uint32(count))
	f32 := func(v float32) { b = le.AppendUint32(b, math.Float32bits(v)) }
	for _, r := range rows {
		if flags&csr.Labels != 0 {
			f32(r.label)
		}
	}
	for _, r := range rows {
		if flags&csr.Weights != 0 {
			f32(r.weight)
		}
	}
	if flags&csr.Dense == 0 {
		for _, r := range rows {
			b = le.AppendUint32(b, uint32(len(r.values)))
		}
		for _, r := range rows {
			for _, i := range r.indices {
				switch {
				case flags&csr.Narrow != 0:
					b = append(b, byte(i))
				case flags&csr.Short != 0:
					b = le.AppendUint16(b, uint16(i))
				default:
					b = le.AppendUint32(b, i)
				}
			}
		}
	}
	for _, r := range rows {
		for _, v := range r.values {
			f32(v)
		}
	}
	return b
}

// bare writes a frame whose rows have no bytes.
func bare(rows uint32) []byte {
	le := binary.LittleEndian
	return le.AppendUint32(le.AppendUint32(le.AppendUint32([]byte(csr.Magic), csr.Dense), rows), 0)
}

// asText returns the examples that vw's text parser reads from the rows.
func asText(t rapid.TB, cfg feature.Config, flags uint32, rows []row) *feature.Batch {
	t.Helper()
	p, err := feature.NewParser(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var b feature.Batch
	for _, r := range rows {
		var line strings.Builder
		if flags&csr.Labels != 0 {
			fmt.Fprintf(&line, "%g ", r.label)
			if flags&csr.Weights != 0 {
				fmt.Fprintf(&line, "%g ", r.weight)
			}
		}
		line.WriteString("|")
		for k, v := range r.values {
			index := uint32(k)
			if flags&csr.Dense == 0 {
				index = r.indices[k]
			}
			fmt.Fprintf(&line, " %d:%g", index, v)
		}
		if err := p.AppendLine(&b, []byte(line.String()), 1); err != nil {
			t.Fatal(err)
		}
	}
	return &b
}

// TestSameExamplesAsText: rows in a frame give the batch of their lines in vw's text. The numbers
// are whole: vw reads others, such as 0.125, with an error in the last bit.
func TestSameExamplesAsText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		cfg := feature.Config{
			Bits:         uint(rapid.IntRange(1, 31).Draw(rt, "bits")),
			HashAll:      rapid.Bool().Draw(rt, "all"),
			HashSeed:     uint32(rapid.IntRange(0, 3).Draw(rt, "seed")),
			NoConstant:   rapid.Bool().Draw(rt, "noconstant"),
			Interactions: rapid.SampledFrom([][]string{nil, {"::"}}).Draw(rt, "interactions"),
			Names:        rapid.Bool().Draw(rt, "names"),
		}
		flags := rapid.SampledFrom([]uint32{0, csr.Labels, csr.Labels | csr.Weights}).Draw(rt, "flags") |
			rapid.SampledFrom([]uint32{0, csr.Dense, csr.Narrow, csr.Short}).Draw(rt, "form")
		value := rapid.SampledFrom([]float32{1, 0, -2, 64, float32(math.Inf(1))})
		columns := rapid.IntRange(0, 6).Draw(rt, "columns")
		var rows []row
		for range rapid.IntRange(0, 4).Draw(rt, "rows") {
			r := row{label: value.Draw(rt, "label"), weight: rapid.SampledFrom([]float32{1, 0, 2}).Draw(rt, "weight")}
			n := columns
			if flags&csr.Dense == 0 {
				n = rapid.IntRange(0, 6).Draw(rt, "features")
			}
			for range n {
				largest := uint32(math.MaxUint32)
				switch {
				case flags&csr.Narrow != 0:
					largest = math.MaxUint8
				case flags&csr.Short != 0:
					largest = math.MaxUint16
				}
				r.indices = append(r.indices, rapid.Uint32Max(largest).Draw(rt, "index"))
				r.values = append(r.values, value.Draw(rt, "value"))
			}
			rows = append(rows, r)
		}
		p, err := csr.NewParser(cfg)
		if err != nil {
			rt.Fatal(err)
		}
		text := frame(flags, rows)
		if n, err := csr.Length(text, len(text)); n != len(text) || err != nil {
			rt.Fatalf("length %d, %v, want %d", n, err, len(text))
		}
		var got feature.Batch
		if err := p.AppendLine(&got, text, 1); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(asText(rt, cfg, flags, rows), &got, cmpopts.EquateEmpty()); diff != "" {
			rt.Errorf("(-text +csr):\n%s", diff)
		}
	})
}

func TestErrors(t *testing.T) {
	t.Parallel()
	nan := float32(math.NaN())
	good := []row{{label: 1, weight: 1, indices: []uint32{3}, values: []float32{1}}, {label: 1, weight: 1, indices: []uint32{4, 5}, values: []float32{1, 2}}}
	change := func(at int, v byte) []byte {
		b := frame(csr.Labels, good)
		b[at] = v
		return b
	}
	with := func(flags uint32, r row) []byte { return frame(flags, []row{good[0], r}) }
	for name, c := range map[string]struct {
		frame []byte
		want  string
	}{
		"short header": {[]byte("gvwR"), "frame 7: 4 bytes are left: want a frame, which has at least 16"},
		"magic":        {change(0, 'x'), `frame 7: a frame begins with "xvwR", want "gvwR": the data is not in binary frames, or the frame before it has a wrong length`},
		"flags":        {change(4, 33), "frame 7: a frame has flags 0x21, want only those of 0x1f"},
		"two forms":    {change(4, 13), "frame 7: a frame has flags 0xd, want at most one of 0x1c"},
		"cut off":      {frame(0, good)[:40], "frame 7: 40 bytes: want 48 by its counts: the data was cut off, or the counts are wrong"},
		"count":        {change(24, 9), "frame 7, row 1: 9 values: want at most 3, which the frame has left"},
		"too few":      {change(28, 1), "frame 7: 1 values more than the rows have by their counts"},
		"label":        {with(csr.Labels, row{label: nan}), "frame 7, row 2: the label is not a number"},
		"weight":       {with(csr.Weights, row{weight: nan}), "frame 7, row 2: the importance weight is not a number"},
		"value":        {with(0, row{indices: []uint32{1, 2}, values: []float32{1, nan}}), "frame 7, row 2: value 2 is not a number"},
		"dense value":  {with(csr.Dense, row{values: []float32{nan}}), "frame 7, row 2: value 1 is not a number"},
		"no columns":   {bare(math.MaxUint32), "frame 7: a dense frame of 4294967295 rows without columns, labels and weights: want at most 65536 rows: write a sparse frame"},
		"rows before":  {bare(65535), "frame 7: a dense frame of 65535 rows without columns, labels and weights after 2 examples of the same batch: want at most 65536 together: write a sparse frame"},
		"sizes":        {append([]byte("gvwR\x04\x00\x00\x00"), "\xff\xff\xff\xff\xff\xff\xff\xff"...), "frame 7: 16 bytes: want 73786976260478468096 by its counts: the data was cut off, or the counts are wrong"},
	} {
		p, err := csr.NewParser(feature.Config{Bits: 18})
		if err != nil {
			t.Fatal(err)
		}
		var b feature.Batch
		if err := p.AppendLine(&b, frame(csr.Labels, good), 1); err != nil {
			t.Fatal(err)
		}
		before := featuretest.InVWsWords(&b)
		if err := p.AppendLine(&b, c.frame, 7); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
		if len(b.Examples) != 2 || featuretest.InVWsWords(&b) != before {
			t.Errorf("%s: the batch has changed", name)
		}
		featuretest.HoldsTogether(t, &b, feature.Config{Bits: 18})
		if err := p.AppendLine(&b, frame(csr.Labels, good), 8); err != nil || len(b.Examples) != 4 {
			t.Errorf("%s: the frame after it: %d examples, %v", name, len(b.Examples), err)
		}
	}
}

// Frames whose rows have no bytes fill a batch to 65,536 examples, and no further.
func TestRowsWithoutBytesAreBoundedPerBatch(t *testing.T) {
	t.Parallel()
	p, err := csr.NewParser(feature.Config{Bits: 18})
	if err != nil {
		t.Fatal(err)
	}
	var b feature.Batch
	for range 2 {
		for n := range int64(64) {
			if err := p.AppendLine(&b, bare(1024), n+1); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.AppendLine(&b, bare(1), 65); err == nil {
			t.Errorf("%d examples: want an error", len(b.Examples))
		}
		b.Reset()
	}
}

func TestLength(t *testing.T) {
	t.Parallel()
	b := frame(csr.Labels, []row{{indices: []uint32{1}, values: []float32{1}}})
	for _, n := range []int{0, 3, 15} {
		if got, err := csr.Length(b[:n], 100); got != 0 || err != nil {
			t.Errorf("%d bytes: got %d, %v", n, got, err)
		}
	}
	if got, err := csr.Length(b[:16], len(b)); got != len(b) || err != nil {
		t.Errorf("the header: got %d, %v, want %d", got, err, len(b))
	}
	if _, err := csr.Length(b, len(b)-1); err == nil || !strings.Contains(err.Error(), "a frame of 32 bytes: want at most 31") {
		t.Errorf("limit: got %v", err)
	}
}

func TestNothingIsAllocatedPerExample(t *testing.T) {
	p, err := csr.NewParser(feature.Config{Bits: 18})
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for i := range 100 {
		rows = append(rows, row{label: 1, indices: []uint32{uint32(i), 7}, values: []float32{1, 2}})
	}
	text := frame(csr.Labels, rows)
	var b feature.Batch
	if n := testing.AllocsPerRun(10, func() {
		b.Reset()
		if err := p.AppendLine(&b, text, 1); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzAppendLine: no frame makes the parser panic or leave an inconsistent batch, an error
// leaves the batch as it was, an accepted frame has the length that its header gives, and the rows
// of a batch are bounded.
func FuzzAppendLine(f *testing.F) {
	rows := []row{{label: 1, weight: 0.5, indices: []uint32{3, 5}, values: []float32{1, 0}}, {label: -1, weight: 1, indices: []uint32{9, 3}, values: []float32{2, 2}}}
	for flags := range uint32(8) {
		f.Add(frame(flags, rows), uint8(flags<<5))
	}
	f.Add(frame(3, nil), uint8(1))
	f.Add(bare(math.MaxUint32), uint8(0))
	f.Add(bare(1<<14), uint8(0))
	f.Fuzz(func(t *testing.T, text []byte, options uint8) {
		if len(text) > 4096 {
			return
		}
		cfg := feature.Config{Bits: 1 + uint(options>>3), HashAll: options&1 != 0, NoConstant: options&2 != 0, Names: options&4 != 0}
		p, err := csr.NewParser(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var b feature.Batch
		if err := p.AppendLine(&b, frame(csr.Labels, rows), 1); err != nil {
			t.Fatal(err)
		}
		err = p.AppendLine(&b, text, 2)
		featuretest.HoldsTogether(t, &b, cfg)
		n, lengthErr := csr.Length(text, len(text))
		switch {
		case err != nil && len(b.Examples) != 2:
			t.Fatalf("%d examples after %v", len(b.Examples), err)
		case err == nil && (n != len(text) || lengthErr != nil):
			t.Fatalf("accepted %d bytes, whose length is %d, %v", len(text), n, lengthErr)
		}
		if len(b.Examples) > len(text) { // rows without bytes
			for err == nil {
				err = p.AppendLine(&b, text, 3)
			}
		}
		if limit := 1<<16 + len(text); len(b.Examples) > limit {
			t.Fatalf("a batch of %d examples, want at most %d", len(b.Examples), limit)
		}
	})
}

func BenchmarkAppendLine(b *testing.B) {
	p, err := csr.NewParser(feature.Config{Bits: 18})
	if err != nil {
		b.Fatal(err)
	}
	var rows []row
	for i := range 100 {
		r := row{label: 1}
		for k := range 74 {
			r.indices, r.values = append(r.indices, uint32(i*k)), append(r.values, float32(k)+1)
		}
		rows = append(rows, r)
	}
	text := frame(csr.Labels, rows)
	var batch feature.Batch
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		batch.Reset()
		if err := p.AppendLine(&batch, text, 1); err != nil {
			b.Fatal(err)
		}
	}
}
