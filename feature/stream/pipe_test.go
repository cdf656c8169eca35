// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
)

// pipe is a source that delivers its text in pieces. Some pieces are delivered only when the
// reader of the pass is idle and the examples of all earlier lines have been delivered.
type pipe struct {
	pieces []piece
	rest   string

	mu        sync.Mutex
	changed   sync.Cond
	delivered int // examples
	answered  int // of these, the ones before the last call of Idle
}

type piece struct {
	text  string
	after int // number of examples to deliver first
}

func (p *pipe) Read(b []byte) (int, error) {
	if p.rest == "" {
		if len(p.pieces) == 0 {
			return 0, io.EOF
		}
		p.mu.Lock()
		for p.answered < p.pieces[0].after {
			p.changed.Wait()
		}
		p.mu.Unlock()
		p.rest, p.pieces = p.pieces[0].text, p.pieces[1:]
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (p *pipe) Close() error { return nil }

func (p *pipe) idle() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answered = p.delivered
	p.changed.Broadcast()
	return nil
}

// drawPipe cuts text into drawn pieces.
func drawPipe(rt *rapid.T, text string, headers int) *pipe {
	p := new(pipe)
	p.changed.L = &p.mu
	for at := 0; at < len(text); {
		n := rapid.SampledFrom([]int{1, 7, 30, 100, 1000}).Draw(rt, "bytes")
		if rapid.Bool().Draw(rt, "line") {
			n = 1 + max(0, strings.IndexByte(text[at:], '\n'))
		}
		next := piece{text: text[at:min(at+n, len(text))]}
		if rapid.IntRange(0, 3).Draw(rt, "wait") == 0 {
			for line := range strings.Lines(text[:strings.LastIndexByte(text[:at], '\n')+1]) {
				if strings.TrimRight(line, "\r\n") != "" {
					next.after++
				}
			}
			next.after -= headers
		}
		p.pieces = append(p.pieces, next)
		at += len(next.text)
	}
	return p
}

// TestPiecesGiveTheSameExamples reads a text in drawn pieces. Every whole line is delivered
// before the pass waits for more, and the examples, their places, the warnings, the
// shard and the cache are those of the text in one piece.
func TestPiecesGiveTheSameExamples(t *testing.T) {
	plain := "\n" + drawn(3, 60) + "\n\r\n" + drawn(4, 20) + "\n\n1 | unended"
	column := "column\n" + values(100)
	rapid.Check(t, func(rt *rapid.T) {
		cfg := stream.Config{Feature: feature.Config{Bits: 18}, Workers: rapid.IntRange(1, 3).Draw(rt, "workers")}
		whole, headers := plain, 0
		switch rapid.IntRange(0, 2).Draw(rt, "kind") {
		case 0:
			cfg.Feature.Interactions = []string{"aa"}
		case 1:
			whole, headers, cfg.Format = column, 1, columnFormat
		}
		cfg.Sources = []stream.Source{text("stdin", whole)}
		d := dataset(t, cfg)
		want := mustPass(t, d)
		examples, size, sum := d.Shard()

		in := drawPipe(rt, whole, headers)
		cfg.ChunkSize = rapid.SampledFrom([]int{1, 64, 1000, 0}).Draw(rt, "chunk")
		cfg.Sources = []stream.Source{{Name: "stdin", Open: func(context.Context) (io.ReadCloser, error) { return in, nil }}}
		if rapid.Bool().Draw(rt, "cache") {
			cfg.Cache, cfg.KillCache = filepath.Join(t.TempDir(), "c"), true
		}
		d = dataset(t, cfg)
		p, err := d.Pass(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		p.Idle = in.idle
		got := new(feature.Batch)
		for {
			b, err := p.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				rt.Fatal(err)
			}
			join(got, b)
			in.mu.Lock()
			in.delivered += len(b.Examples)
			in.mu.Unlock()
			p.Recycle(b)
		}
		if err := p.Close(); err != nil {
			rt.Fatal(err)
		}
		if diff := differ(want, got); diff != "" {
			rt.Fatal(diff)
		}
		if n, s, c := d.Shard(); n != examples || s != size || c != sum {
			rt.Fatalf("shard %d %d %08x, want %d %d %08x", n, s, c, examples, size, sum)
		}
		if cfg.Cache != "" {
			want.Warnings = nil
			if diff := differ(want, mustPass(t, d)); diff != "" {
				rt.Fatalf("from the cache:\n%s", diff)
			}
		}
	})
}
