// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// flowPatience is how long a transfer may get nothing once its epoch is over.
const flowPatience = time.Second

// pause is a wait of the runner outside the collectives. Heartbeats and the log name it.
type pause struct {
	since time.Time
	text  func() string // what this rank waits for
}

// paused registers a wait until resumed is called.
func (s *Steps) paused(text func() string) (resumed func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pause = &pause{time.Now(), text}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pause = nil
	}
}

// Waits returns the registered wait in words, "" if there is none.
func (s *Steps) Waits() string {
	s.mu.Lock()
	p := s.pause
	s.mu.Unlock()
	if p == nil {
		return ""
	}
	return fmt.Sprintf("rank %d: %s, waiting for %s", s.cfg.Rank, engine.Seconds(time.Since(p.since)), p.text())
}

// logWait logs the registered wait, if there is one.
func (s *Steps) logWait() {
	s.mu.Lock()
	p := s.pause
	s.mu.Unlock()
	if p != nil {
		s.cfg.Log.Info("waiting outside collectives", "rank", s.cfg.Rank, "elapsed", engine.Seconds(time.Since(p.since)), "for", p.text())
	}
}

// transfer is the progress of a transfer over all attempts: its clock stops while the
// machine works, and an attempt that repeats what an earlier one got moves it no further.
type transfer struct {
	mu      sync.Mutex
	got     int64     // bytes, in this attempt
	best    int64     // in any
	moved   time.Time // when best last grew, or the machine last asked for more
	open    bool      // the source has been greeted, in this attempt
	working bool      // the machine has bytes to work on
	tries   int
	err     error // why the newest attempt has failed
}

func newTransfer() *transfer { return &transfer{moved: time.Now()} }

// begin notes that an attempt begins.
func (t *transfer) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tries++
	t.got, t.open = 0, false
}

// failed notes why an attempt has failed, and returns how many there were.
func (t *transfer) failed(err error) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err, t.open, t.working = err, false, false
	return t.tries
}

// opens notes that the source has been greeted, and that the machine begins.
func (t *transfer) opens() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open, t.working = true, true
}

// flows reports whether the attempt under way gets further.
func (t *transfer) flows(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open && (t.working || now.Sub(t.moved) < flowPatience)
}

// wants notes that the machine waits for bytes.
func (t *transfer) wants() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.working && t.got >= t.best {
		t.moved = time.Now()
	}
	t.working = false
}

// has notes that bytes have come, and that the machine works on them.
func (t *transfer) has(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.working = true
	if t.got += int64(n); t.got > t.best {
		t.best, t.moved = t.got, time.Now()
	}
}

// idle returns for how long nothing has moved, 0 while the machine works.
func (t *transfer) idle(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.working {
		return 0
	}
	return now.Sub(t.moved)
}

// String describes the progress of the transfer, for messages.
func (t *transfer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := engine.ByteCount(t.best) + " received"
	if t.err != nil {
		text += fmt.Sprintf(", %d attempts: %v", t.tries, t.err)
	}
	return text
}

// watch ends a transfer, by cancel, when the server has gone for good, or when the epoch is
// over and the transfer gets no further: a state that arrives later still serves, if the next
// epoch begins there. Where the transfer makes no progress for the stall time-out the server is asked
// for another source. It returns when done is closed.
func (s *Steps) watch(w *client.Wiring, t *transfer, cancel context.CancelCauseFunc, done <-chan struct{}) {
	ticker := time.NewTicker(min(engine.WatchTick, s.cfg.Stall/4))
	defer ticker.Stop()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	said, asked := time.Now(), time.Time{}
	ended, over := s.job.Server().Ended(w), false
	for {
		select {
		case <-done:
			return
		case <-s.job.Server().Over():
			cancel(mesh.ErrOver)
			return
		case <-ended:
			ended, over = nil, true
			if !t.flows(time.Now()) {
				cancel(mesh.ErrOver)
				return
			}
		case now := <-ticker.C:
			if over && !t.flows(now) {
				cancel(mesh.ErrOver)
				return
			}
			if err := s.job.Server().ServerErr(); err != nil {
				cancel(err)
				return
			}
			if now.Sub(said) >= engine.LogInterval {
				said = now
				s.logWait()
			}
			if idle := t.idle(now); idle >= s.cfg.Stall && !over && now.Sub(asked) >= s.cfg.Stall {
				asked = now
				detail := fmt.Sprintf("rank %d gets nothing of the %v of step %d from rank %d for %s: %v", s.cfg.Rank, w.Missing.Payload, w.Resume.Step, w.Missing.Source, engine.Seconds(idle), t)
				s.cfg.Log.Warn("asking the server for another source of what this rank lacks", "rank", s.cfg.Rank, "source", w.Missing.Source, "reason", detail)
				s.job.Server().Ask(ctx, w.Missing.Source, 0, protocol.EdgeNoTransfer, detail)
			}
		}
	}
}
