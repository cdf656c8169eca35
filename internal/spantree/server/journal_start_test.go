// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// If the file system of the journal hangs, the log names the file within ten seconds, and the
// server does not start. When the file system answers, another server can use the journal.
func TestHungJournalAtTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		log := slog.New(slog.NewTextHandler(&text, nil))
		release := make(chan struct{})
		open := func() (journalStart, error) {
			<-release
			j, term, runs, err := openJournal(path, 2, time.Hour, time.Now())
			return journalStart{j, term, runs}, err
		}
		began := time.Now()
		_, err := startJournal(path, time.Minute, log, open)
		took := time.Since(began)
		if !errors.Is(err, os.ErrDeadlineExceeded) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "within 1m0s") || took != time.Minute {
			t.Errorf("got %v after %v, want an error with the file and the time after a minute", err, took)
		}
		if first, _, _ := strings.Cut(text.String(), "\n"); !strings.Contains(first, "for=5s") || !strings.Contains(first, path) {
			t.Errorf("the log begins with %q, want the file after 5 s", first)
		}
		close(release)
		synctest.Wait()
		found, err := startJournal(path, time.Minute, log, open)
		if err != nil || found.term != 2 {
			t.Fatalf("the next start: term %d, %v; want 2, after that of the start that was late", found.term, err)
		}
		if err := found.journal.close(); err != nil {
			t.Error(err)
		}
	})
}
