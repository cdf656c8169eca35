// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"sync"

	"github.com/gvw-project/gvw/internal/monitor/ranklog"
)

// ServerLog takes log lines to the spanning-tree server, which shows them on its page and by gvw jobs --logs. It is an
// [io.Writer] of lines, such as that of a slog handler:
//
//	lines := &allreduce.ServerLog{}
//	log := slog.New(slog.NewTextHandler(io.MultiWriter(os.Stderr, lines), nil))
//	g, err := allreduce.Join(ctx, allreduce.Config{…, Log: log, ServerLog: lines})
//
// Lines wait for the connection to the server. Of those that wait too long the oldest are dropped, and counted. The reason for
// which a rank gives up, or leaves, is sent before its process ends. Lines have at most 1024 bytes. Characters that are not
// printable are escaped, and passwords in URLs and values of names such as token or password are left out.
//
// The zero value is ready for use. The fields are not changed after the first line.
type ServerLog struct {
	// JSON makes the lines that the library adds itself, with the reason of an end, objects of
	// JSON; false: text as of slog.TextHandler.
	JSON bool
	// Bytes limits the lines that wait, in bytes; 0 is 64 KiB.
	Bytes int
	// Rate limits the lines that are sent in a second, in the mean; 0 is 200, and at most 20,000
	// of all ranks of the job. More lines wait.
	Rate int
	// Burst limits the lines that are sent at once after a pause; 0 is 1000.
	Burst int

	once  sync.Once
	lines *ranklog.Queue
}

// queue returns the lines; nil if l is nil.
func (l *ServerLog) queue() *ranklog.Queue {
	if l == nil {
		return nil
	}
	l.once.Do(func() { l.lines = &ranklog.Queue{JSON: l.JSON, Bytes: l.Bytes, Rate: l.Rate, Burst: l.Burst} })
	return l.lines
}

// Write adds lines. It never waits, and returns no error.
func (l *ServerLog) Write(b []byte) (int, error) { return l.queue().Write(b) }

// Dropped returns the number of lines that this process has dropped.
func (l *ServerLog) Dropped() uint64 { return l.queue().Dropped() }
