// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/cause"
	"github.com/gvw-project/gvw/internal/monitor/ranklog"
	"github.com/gvw-project/gvw/internal/spantree/core"
)

const (
	// MaxFaultFiles is the number of reports that a server writes. The first ones are the most
	// useful: later faults mostly follow from them.
	MaxFaultFiles = 100
	// maxQueuedFaults limits the reports that wait for a slow disk.
	maxQueuedFaults = 16
)

// FaultReport is the content of a report of a fault.
type FaultReport struct {
	Time     time.Time      `json:"time"`
	Cause    cause.Verdict  `json:"cause"`
	Evidence cause.Evidence `json:"evidence"`
	// Logs are the last lines of the ranks that send their logs to the server, at most 20 of each and 1 MiB in all.
	Logs []ranklog.RankLog `json:"logs,omitempty"`
}

// faultWriter writes reports of faults on a goroutine of its own, so that no event waits for the
// disk.
type faultWriter struct {
	dir string
	log *slog.Logger

	mu     sync.Mutex
	closed bool
	count  int // reports so far
	queue  chan FaultReport
	done   chan struct{} // closed when the goroutine has ended
}

// newFaultWriter starts the goroutine, which ends with close. Without a directory it returns nil.
func newFaultWriter(dir string, log *slog.Logger) (*faultWriter, error) {
	if dir == "" {
		return nil, nil
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("spantree: FaultDir: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("spantree: FaultDir: %s is no directory", dir)
	}
	w := &faultWriter{dir: dir, log: log, queue: make(chan FaultReport, maxQueuedFaults), done: make(chan struct{})}
	go w.run()
	return w, nil
}

// add queues a report. It never waits. A nil faultWriter drops it.
func (w *faultWriter) add(f core.FaultFound) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.count >= MaxFaultFiles {
		return
	}
	select {
	case w.queue <- FaultReport{f.At.Round(0), f.Verdict, f.Evidence, f.Logs}:
		w.count++
	default: // the disk is slow
	}
}

// run writes the reports.
func (w *faultWriter) run() {
	defer close(w.done)
	n := 0
	for f := range w.queue {
		n++
		name := filepath.Join(w.dir, fmt.Sprintf("gvw-fault-%s-%d.json", f.Time.Format("20060102T150405.000Z"), n))
		b, err := json.MarshalIndent(f, "", " ")
		if err == nil {
			err = writeFile(name+".tmp", append(b, '\n'))
		}
		if err == nil {
			err = os.Rename(name+".tmp", name)
		}
		if err != nil {
			w.log.Warn("cannot write the report of a fault", "error", err, "cause", f.Cause.Line)
			continue
		}
		w.log.Info("wrote the report of a fault", "file", name, "cause", f.Cause.Line)
	}
}

// close writes the queued reports, within closeTimeout.
func (w *faultWriter) close() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.queue)
	}
	w.mu.Unlock()
	limit := time.NewTimer(closeTimeout)
	defer limit.Stop()
	select {
	case <-w.done:
		return nil
	case <-limit.C:
		return fmt.Errorf("spantree: the disk has not stored the reports of faults in %s within %v", w.dir, closeTimeout)
	}
}
