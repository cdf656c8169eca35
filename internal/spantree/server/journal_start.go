// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// journalStart is the content of a journal at the start of a server.
type journalStart struct {
	journal *journal
	term    uint32
	runs    []*protocol.FinishedRecord
}

// startJournal opens a journal within limit. If that takes long, the log names the file. A journal
// that is opened after the limit is closed again, which releases its lock.
func startJournal(path string, limit time.Duration, log *slog.Logger, open func() (journalStart, error)) (journalStart, error) {
	var start journalStart
	done, left := make(chan error), make(chan struct{})
	go func() {
		s, err := open()
		start = s
		select {
		case done <- err:
		case <-left:
			if err == nil {
				_ = s.journal.close() // nothing was appended
			}
		}
	}()
	began := time.Now()
	slow, late := time.NewTimer(journalSlow), time.NewTimer(limit)
	defer slow.Stop()
	defer late.Stop()
	for {
		select {
		case err := <-done:
			return start, err
		case <-slow.C:
			log.Warn("waiting for the disk of the journal", "file", path, "for", time.Since(began).Round(time.Second))
			slow.Reset(journalLogInterval)
		case <-late.C:
			close(left)
			return journalStart{}, fmt.Errorf("cannot read the journal %s: no answer within %v: does the file system hang? Look at the disk or server that has it: %w",
				path, limit, os.ErrDeadlineExceeded)
		}
	}
}
