// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/csr"
	"github.com/gvw-project/gvw/feature/stream"
)

// frames returns n binary frames of the format csr, with 0 to 4 rows of two columns each.
func frames(n int) string {
	le := binary.LittleEndian
	var b []byte
	for k := range n {
		b = append(b, csr.Magic...)
		b = le.AppendUint32(le.AppendUint32(le.AppendUint32(b, csr.Dense), uint32(k%5)), 2)
		for row := range 2 * (k % 5) {
			b = le.AppendUint32(b, 0x3f800000+uint32(row+k)<<10) // of the size of 1; byte 1 is often a line feed's
		}
	}
	return string(b)
}

// framesConfig reads text, in pieces, as frames. It can be opened once.
func framesConfig(text string, pieces func(io.Reader) io.Reader) stream.Config {
	opened := false
	return stream.Config{
		Feature: bits18,
		Format: stream.Format{
			Name: csr.Name, Frame: csr.Length,
			New: func(f feature.Config) (stream.Lines, error) { return csr.NewParser(f) },
		},
		Sources: []stream.Source{{Name: "stdin", Open: func(context.Context) (io.ReadCloser, error) {
			if opened {
				return nil, errors.New("opened twice")
			}
			opened = true
			return io.NopCloser(pieces(strings.NewReader(text))), nil
		}}},
	}
}

// Frames give the same examples whatever the sizes of chunks and reads, and passes over the
// examples in memory repeat them.
func TestFrames(t *testing.T) {
	t.Parallel()
	text := frames(200)
	all := framesConfig(text, func(r io.Reader) io.Reader { return r })
	want := mustPass(t, dataset(t, all))
	if len(want.Examples) != 400 {
		t.Fatalf("%d examples, want 400", len(want.Examples))
	}
	for name, pieces := range map[string]func(io.Reader) io.Reader{
		"whole":     func(r io.Reader) io.Reader { return r },
		"bytes":     iotest.OneByteReader,
		"data, EOF": iotest.DataErrReader,
	} {
		for _, chunk := range []int{1, 50, 1000, 0} {
			cfg := framesConfig(text, pieces)
			cfg.ChunkSize, cfg.Workers, cfg.Passes, cfg.Keep, cfg.Memory = chunk, 3, 3, true, 1<<20
			d := dataset(t, cfg)
			for range 3 {
				if diff := differ(want, mustPass(t, d)); diff != "" {
					t.Fatalf("%s, chunks of %d bytes: %s", name, chunk, diff)
				}
			}
		}
	}
}

func TestFramesWithInteractions(t *testing.T) {
	t.Parallel()
	cfg := framesConfig(frames(50), func(r io.Reader) io.Reader { return r })
	cfg.Feature.Interactions = []string{"::"}
	b := mustPass(t, dataset(t, cfg))
	if got := b.Examples[0].Count(); len(b.Examples) != 100 || got != 6 { // two, their three products and the constant
		t.Errorf("%d examples, the first with %d features", len(b.Examples), got)
	}
}

func TestErrorsOfFrames(t *testing.T) {
	t.Parallel()
	good := frames(7)
	for name, c := range map[string]struct {
		text, want string
		memory     int
	}{
		"cut off":      {good[:len(good)-3], "stdin: frame 7: 21 bytes: want 24 by its counts", 0},
		"cut header":   {good + "gvwR", "stdin: frame 8: 4 bytes are left", 0},
		"no frame":     {good + strings.Repeat("x", 40), `stdin: frame 8: a frame begins with "xxxx"`, 0},
		"not a number": {good[:32] + "\x00\x00\xc0\x7f" + good[36:], "stdin: frame 2, row 1: value 1 is not a number", 0},
		"limit":        {good + "gvwR\x04\x00\x00\x00\x00\x00\x01\x00\x00\x01\x00\x00", "stdin: frame 8: a frame of 67108880 bytes: want at most 67108864", 0},
		"too many":     {good, "the examples take more than 0 MiB of memory", 100},
	} {
		cfg := framesConfig(c.text, func(r io.Reader) io.Reader { return r })
		if c.memory > 0 {
			cfg.Passes, cfg.Keep, cfg.Memory = 2, true, c.memory
		}
		_, err := onePass(t, dataset(t, cfg))
		if got := errorText(err); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
