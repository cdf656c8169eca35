// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/internal/plain"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/statusline"
)

// topView is what gvw top shows, without a terminal: keys and answers of the server change it, and
// lines draws it.
type topView struct {
	server string
	st     *protocol.ServerStatus // newest answer; nil: none yet
	fault  string                 // of the newest request; "": it was answered

	column   int          // index in topColumns by which jobs are sorted
	reverse  bool         // the greatest comes first
	selected protocol.Job // follows the job when others come and go
	ranks    bool         // the ranks of the selected job are shown
	first    int          // first rank that is shown
}

// topColumns are the columns by which jobs can be sorted: those of gvw jobs before MISSING, and the
// longest wait of a rank.
var topColumns = append(slices.Clone(jobColumns[:len(jobColumns)-1]), "WAIT")

// topKeys describes the keys, the most important first.
const topKeys = "q end  s sort by %s  r reverse  j k select  enter ranks"

// key handles a key. It reports whether the user wants to end.
func (v *topView) key(k byte) (end bool) {
	switch k {
	case 'q', 'Q':
		return true
	case 's':
		v.column = (v.column + 1) % len(topColumns)
	case 'S':
		v.column = (v.column + len(topColumns) - 1) % len(topColumns)
	case 'r':
		v.reverse = !v.reverse
	case 'j':
		v.move(1)
	case 'k':
		v.move(-1)
	case '\n', '\r':
		v.ranks, v.first = !v.ranks, 0
	}
	return false
}

// move selects another job, or scrolls the ranks of the selected one.
func (v *topView) move(by int) {
	if v.ranks {
		v.first = max(0, v.first+by)
		return
	}
	jobs := v.sorted()
	if len(jobs) == 0 {
		return
	}
	at := min(max(v.at(jobs)+by, 0), len(jobs)-1)
	v.selected = idOf(jobs[at])
}

// idOf returns the identity of a job.
func idOf(j *protocol.JobStatus) protocol.Job {
	return protocol.Job{UniqueID: j.UniqueID, RunKey: j.RunKey}
}

// at returns the index of the selected job: the first one if it has ended.
func (v *topView) at(jobs []*protocol.JobStatus) int {
	return max(0, slices.IndexFunc(jobs, func(j *protocol.JobStatus) bool { return idOf(j) == v.selected }))
}

// sorted returns the jobs in their order on the screen.
func (v *topView) sorted() (jobs []*protocol.JobStatus) {
	if v.st == nil {
		return nil
	}
	for i := range v.st.Jobs {
		jobs = append(jobs, &v.st.Jobs[i])
	}
	slices.SortStableFunc(jobs, func(a, b *protocol.JobStatus) int {
		c := 0
		switch topColumns[v.column] {
		case "JOB":
			c = cmp.Or(cmp.Compare(a.UniqueID, b.UniqueID), cmp.Compare(a.RunKey, b.RunKey))
		case "RANKS":
			c = cmp.Compare(a.Total, b.Total)
		case "SINCE":
			c = cmp.Compare(a.Seconds, b.Seconds)
		case "WAIT":
			c = cmp.Compare(longestWait(a), longestWait(b))
		case "PASS":
			c = cmp.Compare(number(passes(a)), number(passes(b)))
		case "LOSS":
			c = cmp.Compare(number(loss(a)), number(loss(b)))
		default:
			c = strings.Compare(a.State, b.State)
		}
		if v.reverse {
			return -c
		}
		return c
	})
	return jobs
}

// number returns the number at the beginning of a cell, -1 if there is none.
func number(cell string) float64 {
	cell, _, _ = strings.Cut(cell, "-")
	if x, err := strconv.ParseFloat(cell, 64); err == nil {
		return x
	}
	return -1
}

// longestWait returns the time in seconds for which a rank of the job has waited, the longest.
func longestWait(j *protocol.JobStatus) (seconds float64) {
	for _, r := range j.Ranks {
		if r.WaitsFor != nil {
			seconds = max(seconds, r.WaitsSeconds)
		}
	}
	return seconds
}

// lines returns the screen: at most rows lines, each shorter than columns.
func (v *topView) lines(columns, rows int) []string {
	jobs := v.sorted()
	head := []string{fmt.Sprintf("gvw top  %s  %d jobs", v.server, len(jobs))}
	var body [][]string
	var tail []string
	mark := 0 // row of the body that is selected
	switch {
	case v.st == nil && v.fault == "":
		tail = []string{"waiting for the server's answer"}
	case v.ranks && len(jobs) > 0:
		j := jobs[v.at(jobs)]
		head = append(head, "job "+strings.Join(jobCells(j)[:6], "  "))
		body, tail = rankTable(j), strings.Split(strings.TrimSuffix(string(appendWaits(nil, j)), "\n"), "\n")
		// The waits of ranks are in the table; the others are about the job.
		tail = slices.DeleteFunc(tail, func(l string) bool {
			return l == "" || slices.ContainsFunc(j.Ranks, func(r protocol.RankStatus) bool { return r.Waits != "" && strings.HasSuffix(l, plain.Text(r.Waits)) })
		})
		mark = -1
	case len(jobs) > 0:
		body = [][]string{append(slices.Clone(topColumns), "MISSING")}
		for _, j := range jobs {
			cells := jobCells(j)
			wait := "-"
			if s := longestWait(j); s > 0 {
				wait = fmt.Sprintf("%.0fs", s)
			}
			body = append(body, slices.Insert(cells, len(cells)-1, wait))
		}
		mark = 1 + v.at(jobs)
	case v.fault == "":
		tail = []string{"no jobs"}
	}
	if v.st != nil && v.st.Journal != "" {
		head = append(head, "the server's journal has failed, restart the server: "+plain.Text(v.st.Journal))
	}
	if v.fault != "" {
		head = append(head, v.fault)
	}
	text := v.window(aligned(body, mark), mark, rows-len(head)-len(tail)-1)
	all := slices.Concat(head, text, tail)
	if len(all) > rows-1 {
		all = all[:max(rows-1, 0)]
	}
	if rows > 0 {
		all = append(all, fmt.Sprintf(topKeys, topColumns[v.column]))
	}
	for i := range all {
		all[i] = statusline.Row{Label: all[i], Share: -1}.Fit(columns)
	}
	return all
}

// window returns the heading of a table and those of its rows for which there is room: around the selected one, or
// from the first that is shown.
func (v *topView) window(table []string, mark, room int) []string {
	if len(table) <= room || len(table) == 0 {
		v.first = 0
		return table
	}
	if room < 2 {
		return table[:max(room, 0)]
	}
	first := v.first
	if mark >= 0 {
		first = mark - 1 - (room-1)/2
	}
	first = min(max(first, 0), len(table)-room)
	if mark < 0 {
		v.first = first // no further than the last rank
	}
	return append([]string{table[0]}, table[1+first:first+room]...)
}

// rankTable returns the table of a job's ranks.
func rankTable(j *protocol.JobStatus) [][]string {
	table := [][]string{{"RANK", "HOST", "STATE", "PASS", "EXAMPLES", "LOSS", "WAITS FOR"}}
	ranks := slices.Clone(j.Ranks)
	slices.SortStableFunc(ranks, func(a, b protocol.RankStatus) int { return cmp.Compare(a.Rank, b.Rank) })
	for _, r := range ranks {
		waits, loss := "", "-"
		switch {
		case r.WaitsFor != nil:
			waits = fmt.Sprintf("rank %d, %.0fs", *r.WaitsFor, r.WaitsSeconds)
		case r.Waits != "":
			waits = plain.Text(r.Waits)
		}
		if r.Examples > 0 {
			loss = strconv.FormatFloat(r.Loss, 'f', 6, 64)
		}
		name := strconv.Itoa(r.Rank)
		if r.Rank < 0 {
			name = "-"
		}
		table = append(table, []string{name, plain.Text(r.Host), plain.Text(r.State), strconv.FormatUint(uint64(r.Pass), 10), statusline.Count(float64(r.Examples)), loss, waits})
	}
	return table
}

// aligned returns the rows of a table with columns of equal width. The row with index mark begins
// with >; none if it is negative.
func aligned(table [][]string, mark int) []string {
	var widths []int
	for _, row := range table {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	lines := make([]string, 0, len(table))
	for n, row := range table {
		line := "  "
		if n == mark {
			line = "> "
		}
		for i, cell := range row {
			line += fmt.Sprintf("%-*s  ", widths[i], cell)
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}
