// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/feature/cache"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/option"
)

// hungCalls are watched calls for a cache. They hang from the nth call of one kind on, until
// release is closed.
type hungCalls struct {
	*hdfsio.Calls
	op      string
	nth     *int
	release chan struct{}
}

func (h *hungCalls) hang(op string, call func() error) func() error {
	return func() error {
		if op == h.op {
			if *h.nth--; *h.nth <= 0 {
				<-h.release
			}
		}
		return call()
	}
}

func (h *hungCalls) Do(op string, call func() error) error { return h.Calls.Do(op, h.hang(op, call)) }

func (h *hungCalls) Last(op string, call func() error) error {
	return h.Calls.Last(op, h.hang(op, call))
}

// Whichever call for the cache hangs, the log names the file within ten seconds, and the run ends by
// an error with the file and the time, which a group takes for the loss of an attempt. Once the file
// system answers, no unfinished cache is left.
func TestHungCache(t *testing.T) {
	const within = time.Minute
	text := randomText(3000)
	for _, c := range []struct {
		op  string
		nth int
	}{
		{"open", 1}, // to look for the cache
		{"create", 1},
		{"write", 1}, // of the header
		{"write", 2}, // of a block
		{"write", 4}, // of the end: blocks, trailer, name
		{"open", 2},  // by the second pass
		{"read", 1},
		{"read", 4},
	} {
		dir := t.TempDir()
		name := filepath.Join(dir, "c.cache")
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			release, nth := make(chan struct{}), c.nth
			w := &hdfsio.Watched{FS: hdfsio.Local{}, Within: within, Log: slog.New(slog.NewTextHandler(&log, nil))}
			in := textInput("text", text)
			in.Identity = "text"
			began := time.Now()
			_, err := Run(t.Context(), Config{
				Data: DataConfig{
					Inputs:        []Input{in},
					Cache:         name,
					ExampleMemory: option.Some(0), // so that the second pass reads the cache
					CacheCalls: func(ctx context.Context, name string) cache.Calls {
						return &hungCalls{Calls: w.Calls(ctx, name), op: c.op, nth: &nth, release: release}
					},
				},
				Passes:   2,
				Features: FeatureConfig{Bits: 10},
				Holdout:  HoldoutConfig{Off: true},
			})
			took := time.Since(began)
			close(release)
			synctest.Wait()
			e, ok := errors.AsType[*hdfsio.Error](err)
			if !ok || e.Name != name || !strings.Contains(err.Error(), "after 1m0s") || !errors.Is(reported(err), allreduce.ErrLeaving) {
				t.Errorf("%s %d: got %v, want an *hdfsio.Error with the file and the time that is the loss of an attempt", c.op, c.nth, err)
			}
			if took != within {
				t.Errorf("%s %d: it took %v, want %v", c.op, c.nth, took, within)
			}
			if first, _, _ := strings.Cut(log.String(), "\n"); !strings.Contains(first, "since=5s") || !strings.Contains(first, "file="+name) {
				t.Errorf("%s %d: the log begins with %q, want the file after 5 s", c.op, c.nth, first)
			}
			left, err := os.ReadDir(dir)
			if err != nil || len(left) > 1 || len(left) == 1 && left[0].Name() != "c.cache" {
				t.Errorf("%s %d: there are %v, %v", c.op, c.nth, left, err)
			}
		})
	}
}

// An input that hangs ends the run at the limit, and the end of the context ends a run that waits
// for one.
func TestHungInput(t *testing.T) {
	errStop := errors.New("stop")
	for _, stop := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			defer close(release)
			w := &hdfsio.Watched{FS: hungInput{release: release}, Within: time.Minute}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			want := time.Minute
			if stop {
				want = 10 * time.Second
				time.AfterFunc(want, func() { cancel(errStop) })
			}
			began := time.Now()
			_, err := Run(ctx, Config{
				Features: FeatureConfig{Bits: 10},
				Data: DataConfig{Inputs: []Input{{Name: "text", Open: func(ctx context.Context) (io.ReadCloser, error) {
					return hdfsio.Open(ctx, w, "/far/text")
				}}}},
			})
			if took := time.Since(began); took != want || errors.Is(err, hdfsio.ErrHung) == stop || errors.Is(err, errStop) != stop {
				t.Errorf("stop %v: got %v after %v, want an end after %v", stop, err, took, want)
			}
		})
	}
}

// hungInput is a file system with one file, of which only the first line can be read.
type hungInput struct {
	hdfsio.FS
	release chan struct{}
}

func (h hungInput) Stat(_ context.Context, name string) (hdfsio.Info, error) {
	return hdfsio.Info{Name: name}, nil
}

func (h hungInput) Open(context.Context, string, int64) (io.ReadCloser, error) {
	return &hungReader{left: "1 |a b\n", release: h.release}, nil
}

type hungReader struct {
	left    string
	release chan struct{}
}

func (h *hungReader) Read(b []byte) (int, error) {
	if h.left == "" {
		<-h.release
		return 0, io.EOF
	}
	n := copy(b, h.left)
	h.left = h.left[n:]
	return n, nil
}

func (h *hungReader) Close() error { return nil }
