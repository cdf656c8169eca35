// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// journalStart is a journal as a server finds it at its start.
type journalStart struct {
	journal *journal
	term    uint32
	runs    []*protocol.FinishedRecord
}

// startJournal opens a journal by a call that may take limit. The log names the file of a call that
// takes long. A journal that is opened too late is closed again, which gives back its lock.
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
