// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/core"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// journalWriter owns a journal. One goroutine appends records in the order in which the machine has
// made them, syncs once for all queued records, and then answers those with receipts. Connections
// and heartbeats never wait for the disk.
type journalWriter struct {
	j      *journal
	log    *slog.Logger
	answer func(core.Event) // receives Persisted and JournalFailed

	mu      sync.Mutex
	queue   []core.Persist
	omitted int           // records that were not queued, see maxUnwritten
	writing int           // records of the current batch
	since   time.Duration // time of the first tick during the current batch; 0: none yet
	logged  time.Duration // time of the newest log line about the batch; 0: none
	closing bool
	wake    chan struct{}
	done    chan struct{} // closed when the goroutine has ended; err is then set
	err     error         // result of closing the journal
}

const (
	// The log mentions a write that takes journalSlow, and again every journalLogInterval.
	journalSlow        = 5 * time.Second
	journalLogInterval = time.Minute
	// closeTimeout is the time that Close waits for the disk.
	closeTimeout = 5 * time.Second
	// maxUnwritten is the number of queued records from which records of single files are omitted.
	// No later start needs them.
	maxUnwritten = 4096
)

// newJournalWriter starts the goroutine, which ends with close.
func newJournalWriter(j *journal, log *slog.Logger, answer func(core.Event)) *journalWriter {
	w := &journalWriter{j: j, log: log, answer: answer, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go w.run()
	return w
}

// add queues a record. It never waits.
func (w *journalWriter) add(p core.Persist) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, single := p.Record.(*protocol.DeliveredRecord); single && len(w.queue) >= maxUnwritten {
		w.omitted++
		return
	}
	w.queue = append(w.queue, p)
	w.signal()
}

// signal wakes the goroutine, which writes all queued records. The caller holds the lock.
func (w *journalWriter) signal() {
	select {
	case w.wake <- struct{}{}:
	default: // a signal is pending
	}
}

// run writes batches until close.
func (w *journalWriter) run() {
	defer close(w.done)
	for range w.wake {
		w.mu.Lock()
		batch, left, closing := w.queue, w.omitted, w.closing
		w.queue, w.omitted, w.writing, w.since, w.logged = nil, 0, len(batch), 0, 0
		w.mu.Unlock()
		if left > 0 {
			w.log.Warn("records of delivered files omitted from a slow journal", "file", w.j.path, "records", left)
		}
		w.write(batch)
		w.mu.Lock()
		slow := w.logged > 0
		w.writing = 0
		w.mu.Unlock()
		if slow {
			w.log.Info("journal written again", "file", w.j.path)
		}
		if closing {
			w.err = w.j.close()
			return
		}
	}
}

// write appends a batch, syncs it if it has receipts, and answers these.
func (w *journalWriter) write(batch []core.Persist) {
	sound := w.j.err == nil
	errs, receipts := make([]error, len(batch)), false
	for i, p := range batch {
		errs[i] = w.j.append(p.Record)
		receipts = receipts || p.Receipt != 0
	}
	if receipts {
		if err := w.j.sync(); err != nil {
			for i := range errs {
				errs[i] = cmp.Or(errs[i], err)
			}
		}
	}
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		w.log.Error("cannot write the journal", "file", w.j.path, "error", errs[i])
	}
	if sound && w.j.err != nil {
		w.log.Error("the journal has failed for good: new jobs with a run key are refused until the server is restarted", "file", w.j.path)
		w.answer(core.JournalFailed{Err: w.j.err})
	}
	for i, p := range batch {
		if p.Receipt != 0 {
			w.answer(core.Persisted{Receipt: p.Receipt, Err: errs[i]})
		}
	}
}

// watch logs a write that takes long. now is the time of the machine's clock, which stands still
// while the server is paused.
func (w *journalWriter) watch(now time.Duration) {
	w.mu.Lock()
	due := false
	switch {
	case w.writing == 0:
	case w.since == 0:
		w.since = now
	case now-w.since >= journalSlow && (w.logged == 0 || now-w.logged >= journalLogInterval):
		w.logged, due = now, true
	}
	since, writing, queued := w.since, w.writing, len(w.queue)
	w.mu.Unlock()
	if due {
		w.log.Warn("waiting for the disk of the journal; only jobs that end are delayed", "file", w.j.path,
			"for", (now - since).Round(time.Second), "writing", writing, "queued", queued)
	}
}

// close writes the queued records and closes the journal, within closeTimeout.
func (w *journalWriter) close() error {
	w.mu.Lock()
	w.closing = true
	w.signal()
	w.mu.Unlock()
	limit := time.NewTimer(closeTimeout)
	defer limit.Stop()
	select {
	case <-w.done:
		return w.err
	case <-limit.C:
		w.mu.Lock()
		defer w.mu.Unlock()
		return fmt.Errorf("spantree: the disk has not stored %d records of the journal %s within %v: the end of the newest runs may be lost",
			w.writing+len(w.queue), w.j.path, closeTimeout)
	}
}
