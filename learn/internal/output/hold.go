// SPDX-License-Identifier: Apache-2.0

package output

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
)

// Hold keeps log records back while a progress table is open, so that programs which
// parse the table find only its rows between its header and the summary. In a job of
// several ranks no record is held: an operator must see at once for which rank the others
// wait, and a rank that is killed would take its records with it.
type Hold struct {
	mu      sync.Mutex
	Job     bool // hold nothing
	open    bool
	records []heldRecord

	Warnings atomic.Uint64 // and errors, of the whole run
}

type heldRecord struct {
	to slog.Handler
	r  slog.Record
}

// maxHeld is how many records are held. The ones after them are written at once.
const maxHeld = 10_000

// begin holds records from now on.
func (h *Hold) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = !h.Job
}

// Release writes the records that were held. Later ones are written at once.
func (h *Hold) Release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = false
	for _, held := range h.records {
		_ = held.to.Handle(context.Background(), held.r) // slog's loggers drop this error, too
	}
	h.records = nil
}

// Logger returns a logger whose records go to log, or are held while the table is open.
func (h *Hold) Logger(log *slog.Logger) *slog.Logger {
	return slog.New(&holdHandler{Handler: log.Handler(), hold: h})
}

// holdHandler is a handler whose records may be held.
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
