// SPDX-License-Identifier: Apache-2.0

package output

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
)

// Hold delays log records while a progress table is open. So programs that parse the table find
// only its rows between its header and the summary. In a job of several ranks no record is
// delayed: an operator must see at once which rank the others wait for, and a rank that is
// killed would lose its records.
type Hold struct {
	mu      sync.Mutex
	Job     bool // delay nothing
	open    bool
	records []heldRecord

	Warnings atomic.Uint64 // number of warnings and errors in the run
}

type heldRecord struct {
	to slog.Handler
	r  slog.Record
}

// maxHeld is the limit for delayed records. Further ones are written at once.
const maxHeld = 10_000

// begin delays records from now on.
func (h *Hold) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = !h.Job
}

// Release writes the delayed records. Later ones are written at once.
func (h *Hold) Release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = false
	for _, held := range h.records {
		_ = held.to.Handle(context.Background(), held.r) // slog's loggers drop this error, too
	}
	h.records = nil
}

// Logger returns a logger that writes to log, with a delay while the table is open.
func (h *Hold) Logger(log *slog.Logger) *slog.Logger {
	return slog.New(&holdHandler{Handler: log.Handler(), hold: h})
}

// holdHandler is a handler whose records may be delayed.
type holdHandler struct {
	slog.Handler
	hold *Hold
}

func (h *holdHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		h.hold.Warnings.Add(1)
	}
	h.hold.mu.Lock()
	defer h.hold.mu.Unlock()
	// The lock is held while a record is written, so that Release and later records keep their
	// order.
	if h.hold.open && len(h.hold.records) < maxHeld {
		h.hold.records = append(h.hold.records, heldRecord{h.Handler, r.Clone()})
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h *holdHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &holdHandler{Handler: h.Handler.WithAttrs(attrs), hold: h.hold}
}

func (h *holdHandler) WithGroup(name string) slog.Handler {
	return &holdHandler{Handler: h.Handler.WithGroup(name), hold: h.hold}
}
