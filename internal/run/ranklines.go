// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/plain"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/statusline"
)

// rankLines keeps a line for each rank at the bottom of the terminal. Diagnostics are written through
// it, so that they appear above.
type rankLines struct {
	*statusline.Lines
	rows   func() int // of the terminal
	passes int        // of the job, at most; 1 or less: not shown

	begun  time.Time
	latest time.Time // time of the last lines
	ranks  map[int]*pace
}

// pace is the speed of a rank.
type pace struct {
	examples uint64
	at       time.Time // when examples changed
	rate     float64   // examples per second
}

// between is the least time between two updates of the lines.
const between = 500 * time.Millisecond

// newRankLines returns the lines of a job that begins now.
func newRankLines(out io.Writer, passes int) *rankLines {
	return &rankLines{
		Lines: statusline.New(out, statusline.Width(out)), passes: passes, begun: time.Now(), ranks: map[int]*pace{},
		rows: func() int {
			_, rows := statusline.Size(out)
			return rows
		},
	}
}

// mostPasses returns the passes that a job makes at most, of all its stages.
func mostPasses(s *cli.Settings) int {
	first, second, ok := strings.Cut(s.Get("hybrid"), ":")
	if !ok {
		return int(s.Number("passes"))
	}
	p, _ := strconv.Atoi(first) // the workers report a fault of the option
	q, _ := strconv.Atoi(second)
	return p + q
}

// show updates the lines. Only one goroutine calls it.
func (l *rankLines) show(job *protocol.JobStatus, now time.Time) {
	if now.Sub(l.latest) < between {
		return
	}
	l.latest = now
	l.Show(l.lines(job, now, l.Width(), l.rows())...)
}

// lines returns a line for each rank, in half of the rows of the terminal. The last line counts the ranks for
// which there is no room.
func (l *rankLines) lines(job *protocol.JobStatus, now time.Time, width, rows int) (lines []string) {
	holders := slices.DeleteFunc(slices.Clone(job.Ranks), func(r protocol.RankStatus) bool { return r.Rank < 0 || r.State == "standby" })
	slices.SortStableFunc(holders, func(a, b protocol.RankStatus) int { return cmp.Compare(a.Rank, b.Rank) })
	most := max(1, rows/2)
	for i, r := range holders {
		l.learn(r, now)
		if len(holders) > most && i >= most-1 {
			continue // the speeds of all ranks are followed
		}
		lines = append(lines, l.row(r, now).Fit(width))
	}
	if more := len(holders) - len(lines); more > 0 {
		lines = append(lines, statusline.Row{Label: fmt.Sprintf("and %d more ranks", more), Share: -1}.Fit(width))
	}
	return lines
}

// learn updates the speed of a rank. Its examples arrive with its heartbeats.
func (l *rankLines) learn(r protocol.RankStatus, now time.Time) {
	p := l.ranks[r.Rank]
	switch {
	case p == nil || r.Examples < p.examples: // new, or another attempt
		l.ranks[r.Rank] = &pace{examples: r.Examples, at: now}
	case r.Examples > p.examples:
		p.rate = float64(r.Examples-p.examples) / now.Sub(p.at).Seconds()
		p.examples, p.at = r.Examples, now
	}
}

// row returns the line of a rank.
func (l *rankLines) row(r protocol.RankStatus, now time.Time) statusline.Row {
	row := statusline.Row{Label: fmt.Sprintf("rank %d", r.Rank), Share: -1}
	left, loss, rate := "", "", ""
	if l.passes > 1 {
		row.Label += fmt.Sprintf("  pass %d/%d", min(int(r.Pass)+1, l.passes), l.passes)
		row.Share = math.Min(float64(r.Pass)/float64(l.passes), 1)
		left = statusline.Left(now.Sub(l.begun), row.Share)
	}
	if r.Examples > 0 && !math.IsNaN(r.Loss) {
		loss = fmt.Sprintf("loss %.4g", r.Loss)
	}
	if p := l.ranks[r.Rank]; p != nil && p.rate > 0 {
		rate = statusline.Count(p.rate) + "/s"
	}
	waits := ""
	if r.WaitsFor != nil {
		waits = fmt.Sprintf("waits for rank %d", *r.WaitsFor)
		if r.WaitsSeconds >= 1 {
			waits += fmt.Sprintf(", %.0f s", r.WaitsSeconds)
		}
	}
	row.Fields = []string{waits, left, loss, rate, statusline.Count(float64(r.Examples)) + " examples", plain.Text(r.Step)}
	return row
}
