// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/feature/stream"
)

// noneLeft fails if goroutines of this package are still there. Those that have
// just been joined may need a moment to vanish.
func noneLeft(t *testing.T) {
	t.Helper()
	for wait := time.Millisecond; ; wait *= 2 {
		buf := make([]byte, 1<<20)
		all := string(buf[:runtime.Stack(buf, true)])
		if !strings.Contains(all, "stream.(*Dataset).start") && !strings.Contains(all, "stream.(*worker)") {
			return
		}
		if wait > 30*time.Second {
			t.Fatalf("goroutines left:\n%s", all)
		}
		time.Sleep(wait)
	}
}

// TestCloseInTheMiddle closes after each number of batches: nothing is left, no
// goroutine and no file.
func TestCloseInTheMiddle(t *testing.T) {
	for n := range 12 {
		path := filepath.Join(t.TempDir(), "c")
		cfg := stream.Config{Feature: bits18, Cache: path, ChunkSize: 2000, Workers: 3, Sources: []stream.Source{text("a.vw", drawn(1, 2000))}}
		d := dataset(t, cfg)
		p, err := d.Pass(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			b, err := p.Next()
			if err != nil {
				t.Fatal(err)
			}
			p.Recycle(b)
		}
		if err := errors.Join(p.Close(), p.Close()); err != nil {
			t.Error(err)
		}
		if _, err := p.Next(); err == nil || !strings.Contains(err.Error(), "the pass is closed") {
			t.Errorf("Next after Close: %v", err)
		}
		noneLeft(t)
		if left, err := filepath.Glob(path + "*"); err != nil || left != nil {
			t.Errorf("left behind: %v, %v", left, err)
		}
		// The next pass starts from the beginning, and makes the cache.
		if got := len(mustPass(t, d).Examples); got != 2000 || !strings.HasPrefix(d.Plan(), "using") {
			t.Errorf("%d examples, then %s", got, d.Plan())
		}
	}
}

func TestTheContextEndsThePass(t *testing.T) {
	cause := errors.New("the server is gone")
	for _, cached := range []bool{false, true} {
		cfg := stream.Config{Feature: bits18, ChunkSize: 1000, Sources: []stream.Source{text("a.vw", drawn(1, 2000))}, Passes: 2}
		if cached {
			cfg.Cache = filepath.Join(t.TempDir(), "c")
		}
		d := dataset(t, cfg)
		if cached {
			mustPass(t, d)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		p, err := d.Pass(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Next(); err != nil {
			t.Fatal(err)
		}
		cancel(cause)
		for err == nil { // batches in transit may still arrive
			_, err = p.Next()
		}
		if !errors.Is(err, cause) {
			t.Errorf("got %v", err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		noneLeft(t)
	}
}

// waitsForEnd is an input whose reads wait for the end of the pass.
type waitsForEnd struct{ ctx context.Context }

func (w waitsForEnd) Read([]byte) (int, error) {
	<-w.ctx.Done()
	return 0, context.Cause(w.ctx)
}

func (waitsForEnd) Close() error { return nil }

// TestCloseInterruptsTheReader closes a pass whose reader waits in Open or in Read. Close takes
// no time, and no goroutine remains in the bubble.
func TestCloseInterruptsTheReader(t *testing.T) {
	for name, open := range map[string]func(context.Context) (io.ReadCloser, error){
		"open": func(ctx context.Context) (io.ReadCloser, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		},
		"read": func(ctx context.Context) (io.ReadCloser, error) { return waitsForEnd{ctx}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, err := dataset(t, stream.Config{Feature: bits18, Sources: []stream.Source{{Name: "stdin", Open: open}}}).Pass(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				next := make(chan error)
				go func() {
					_, err := p.Next()
					next <- err
				}()
				synctest.Wait()
				began := time.Now()
				go func() {
					if err := p.Close(); err != nil {
						t.Error(err)
					}
				}()
				if err := <-next; err == nil || !strings.Contains(err.Error(), "the pass is closed") {
					t.Errorf("Next: %v", err)
				}
				if err := p.Close(); err != nil {
					t.Error(err)
				}
				if d := time.Since(began); d != 0 {
					t.Errorf("Close took %v", d)
				}
			})
		})
	}
}

// TestCloseWakesAHangingReader: a pipe without data whose writer stays open.
func TestCloseWakesAHangingReader(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	src := stream.Source{Name: "stdin", Open: func(context.Context) (io.ReadCloser, error) { return r, nil }}
	p, err := dataset(t, stream.Config{Feature: bits18, Sources: []stream.Source{src}}).Pass(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	go func() { // Next hangs, too; the other end of the pipe does not
		time.Sleep(10 * time.Millisecond)
		p.Close()
	}()
	if _, err := p.Next(); err == nil || !strings.Contains(err.Error(), "the pass is closed") {
		t.Errorf("got %v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	noneLeft(t)
}

// TestOnePassAtATime is a promise of the caller.
func TestOnePassAtATime(t *testing.T) {
	d := dataset(t, stream.Config{Feature: bits18, Sources: []stream.Source{text("a.vw", "1 | a\n")}})
	p, err := d.Pass(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r, _ := recover().(string); !strings.HasPrefix(r, "BUG: stream: Pass before") {
			t.Errorf("got %q", r)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	_, err = d.Pass(t.Context())
	t.Errorf("no panic, %v", err)
}
