// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/hdfsio"
)

// frozen is a file system on which reads of files hang until release is closed.
type frozen struct {
	hdfsio.FS
	release chan struct{}
}

func (f frozen) Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	r, err := f.FS.Open(ctx, name, offset)
	return frozenReader{r, f.release}, err
}

type frozenReader struct {
	io.ReadCloser
	release chan struct{}
}

func (r frozenReader) Read(b []byte) (int, error) {
	<-r.release
	return r.ReadCloser.Read(b)
}

// A checkpoint whose file system hangs still counts: an attempt that took it for damaged would
// start from an older one, or from the beginning. Neither the search nor the load takes longer
// than the limit of one call.
func TestHungCheckpoints(t *testing.T) {
	const within = time.Minute
	s, log := store(t)
	save(t, s, point(1, 1), "one")
	save(t, s, point(1, 2), "two")
	if got := newest(t, s); got != "two" {
		t.Fatalf("got %q", got)
	}
	for name, use := range map[string]func(s *Store) error{
		"search": func(s *Store) error {
			_, err := s.Newest()
			return err
		},
		"load": func(s *Store) error {
			return s.Load(2, func(r io.Reader) error {
				_, err := io.ReadAll(r)
				return err
			})
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			defer close(release)
			hung := *s
			hung.FS = &hdfsio.Watched{FS: frozen{s.FS, release}, Within: within}
			began := time.Now()
			err := use(&hung)
			if took := time.Since(began); !errors.Is(err, hdfsio.ErrHung) || !strings.Contains(err.Error(), ".s2") && name == "load" || took != within {
				t.Errorf("%s: got %v after %v, want ErrHung and the name after %v", name, err, took, within)
			}
		})
	}
	if strings.Contains(log.String(), "does not count") {
		t.Errorf("the log has a checkpoint that does not count:\n%s", log)
	}
}
