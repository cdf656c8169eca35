// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/spantree/client"
)

// hungStore is on a file system whose calls hang until release is closed.
type hungStore struct {
	hangsSave, hangsClear bool
	release               chan struct{}
	cleared               bool
}

func (s *hungStore) Own(Owner)                                {}
func (s *hungStore) Newest() (uint64, error)                  { return 0, nil }
func (s *hungStore) Load(uint64, func(io.Reader) error) error { return errors.New("not used") }
func (s *hungStore) hang(hangs bool) {
	if hangs {
		<-s.release
	}
}
func (s *hungStore) Clear() error { s.hang(s.hangsClear); s.cleared = true; return nil }

func (s *hungStore) Save(context.Context, client.Point, func(io.Writer) error, func() error) error {
	s.hang(s.hangsSave)
	return nil
}

// oneRank is a job with a single rank.
type oneRank struct{ Job }

func (oneRank) Current() (*client.Wiring, members.Set) { return &client.Wiring{}, members.All(1) }

// TestClearEndsWithItsContext: a file system that hangs in the last write, or in the removal, holds up the end of a
// rank only until its context ends. Wait waits for the file system.
func TestClearEndsWithItsContext(t *testing.T) {
	for name, store := range map[string]*hungStore{
		"the last write hangs": {hangsSave: true},
		"the removal hangs":    {hangsClear: true},
		"nothing hangs":        {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store.release = make(chan struct{})
				var log strings.Builder
				s := New(Config{Total: 1, Checkpoints: store, Log: slog.New(slog.NewTextHandler(&log, nil))}, oneRank{})
				s.SetState(&machine{w: &world{}})
				s.due = true
				s.Save()
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				done := make(chan struct{})
				go func() {
					defer close(done)
					s.Clear(ctx)
				}()
				time.Sleep(2 * time.Second)
				select {
				case <-done:
				default:
					t.Error("Clear has not returned")
				}
				hangs := store.hangsSave || store.hangsClear
				if got := strings.Contains(log.String(), "checkpoints of a finished job not removed"); got != hangs {
					t.Errorf("log %q: the checkpoints are kept: %v, want %v", log.String(), got, hangs)
				}
				close(store.release)
				<-done
				s.Wait()
				if store.cleared == store.hangsSave {
					t.Errorf("Checkpoints.Clear was called: %v, want %v", store.cleared, !store.hangsSave)
				}
			})
		})
	}
}
