// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/internal/monitor/history"
	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// row is what the page shows of a rank, besides its lane. Its JSON is the array of its fields.
type row struct {
	rank, phase, waitsFor int
	since                 int64 // ms
	attempts              int
	pass                  uint32
	steps, examples       uint64
	loss                  float64
	step, host, address   string
	silent                int // s; 0: less than 3

	sent, received            int64 // bytes per second; -1: unknown
	computes, networks, waits int   // per cent of its time; the rest is loading
}

// rowOf returns the row of a rank.
func rowOf(j *history.Job, i int) row {
	r := &j.Ranks[i]
	s := &r.Status
	w := row{
		rank: i, phase: int(r.Phase()), waitsFor: -1, since: millis(r.Since()), attempts: r.Attempts,
		pass: s.Pass, steps: s.Steps, examples: s.Examples, loss: s.Loss, step: s.Step, host: s.Host, address: s.Address,
	}
	if n := len(r.Spans); n > 0 {
		w.waitsFor = int(r.Spans[n-1].For)
	}
	if r.Present && s.Silent >= 3 {
		w.silent = int(s.Silent)
	}
	sent, received := j.Rate(i)
	w.sent, w.received = int64(sent), int64(received)
	if t := s.Traffic; t != nil {
		percent := func(p traffic.Phase) int {
			return int(math.Round(100 * float64(t.Times[p]) / float64(max(1, t.Elapsed()))))
		}
		w.computes, w.networks, w.waits = percent(traffic.Computing), percent(traffic.Network), percent(traffic.Waiting)
		w.step = cmp.Or(rounds(t.Rounds), w.step)
	}
	return w
}

// rounds describes how far a rank has come with shared vectors; "": it has none.
func rounds(r traffic.Rounds) string {
	if r.Sent == 0 {
		return ""
	}
	text := fmt.Sprintf("round %d", r.Sent)
	if r.Behind > 0 {
		text += fmt.Sprintf(", slowest sender %d behind", r.Behind)
	}
	if r.Missed > 0 {
		text += fmt.Sprintf(", %d missed", r.Missed)
	}
	return text
}

func millis(d time.Duration) int64 { return d.Milliseconds() }

func (w *row) append(b []byte) []byte {
	b = append(b, '[')
	for _, v := range [...]int64{int64(w.rank), int64(w.phase), int64(w.waitsFor), w.since, int64(w.attempts), int64(w.pass), int64(w.steps), int64(w.examples)} {
		b = append(strconv.AppendInt(b, v, 10), ',')
	}
	b = append(appendFloat(b, w.loss), ',')
	for _, s := range [...]string{w.step, w.host, w.address} {
		b = append(appendText(b, s), ',')
	}
	b = strconv.AppendInt(b, int64(w.silent), 10)
	for _, v := range [...]int64{w.sent, w.received, int64(w.computes), int64(w.networks), int64(w.waits)} {
		b = strconv.AppendInt(append(b, ','), v, 10)
	}
	return append(b, ']')
}

// appendFloat appends a number; one that JSON cannot represent is null.
func appendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, f, 'g', 6, 64)
}

// appendText appends a string of JSON.
func appendText(b []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic("BUG: page: a string is no JSON: " + err.Error())
	}
	return append(b, text...)
}

// cursor is what the clients of a job have been sent.
type cursor struct {
	rows     []row
	spans    []int // by rank, with dropped ones
	marks    []int
	events   int
	points   int
	thins    int
	last     history.Point
	previous int
	members  string // of the tree
	traffic  string
}

// append appends the JSON of what has been added to a job since the cursor, and moves the cursor.
func (c *cursor) append(b []byte, j, previous *history.Job, full bool) []byte {
	b = append(b, `{"n":`...)
	b = strconv.AppendInt(b, int64(j.Number), 10)
	b = append(b, `,"at":`...)
	b = strconv.AppendInt(b, millis(j.Now), 10)
	if full {
		b = append(b, `,"full":true,"options":`...)
		b = appendText(b, j.Status.Options)
		b = append(b, `,"total":`...)
		b = strconv.AppendInt(b, int64(len(j.Ranks)), 10)
	}
	if len(c.rows) != len(j.Ranks) {
		c.rows, c.spans, c.marks = make([]row, len(j.Ranks)), make([]int, len(j.Ranks)), make([]int, len(j.Ranks))
	}
	b = c.appendRanks(b, j)
	b = c.appendEvents(b, j)
	b = c.appendCurve(b, j, previous)
	b = c.appendTree(b, j)
	b = c.appendTraffic(b, j)
	b = append(b, `,"waits":`...)
	b = appendWaits(b, j)
	return append(b, '}')
}

// appendRanks appends the rows that have changed, and the new spans and marks.
func (c *cursor) appendRanks(b []byte, j *history.Job) []byte {
	var spans, marks []byte
	b = append(b, `,"rows":[`...)
	first := len(b)
	for i := range j.Ranks {
		r := &j.Ranks[i]
		if w := rowOf(j, i); w != c.rows[i] || c.spans[i] == 0 {
			if len(b) > first {
				b = append(b, ',')
			}
			b = w.append(b)
			c.rows[i] = w
		}
		for _, s := range r.Spans[min(max(0, c.spans[i]-r.DroppedSpans), len(r.Spans)):] {
			spans = appendInts(spans, int64(i), millis(s.At), int64(s.Phase), int64(s.For))
		}
		c.spans[i] = r.DroppedSpans + len(r.Spans)
		for _, m := range r.Marks[min(max(0, c.marks[i]-r.DroppedMarks), len(r.Marks)):] {
			marks = appendInts(marks, int64(i), millis(m.At), int64(m.Kind))
		}
		c.marks[i] = r.DroppedMarks + len(r.Marks)
	}
	b = append(append(b, `],"spans":[`...), spans...)
	b = append(append(b, `],"marks":[`...), marks...)
	return append(b, ']')
}

// appendInts appends numbers as an array, and a comma before it unless b is empty.
func appendInts(b []byte, v ...int64) []byte {
	if len(b) > 0 {
		b = append(b, ',')
	}
	b = append(b, '[')
	for i, n := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return append(b, ']')
}

// appendEvents appends the new events.
func (c *cursor) appendEvents(b []byte, j *history.Job) []byte {
	b = append(b, `,"events":[`...)
	for i, e := range j.Events[min(max(0, c.events-j.Dropped), len(j.Events)):] {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendInt(append(b, '['), millis(e.At), 10), ',')
		b = append(strconv.AppendInt(b, int64(e.Kind), 10), ',')
		b = append(strconv.AppendInt(b, int64(e.Rank), 10), ',')
		b = append(appendText(b, e.Text), ']')
	}
	c.events = j.Dropped + len(j.Events)
	return append(b, ']')
}

// appendCurve appends the points from the first one that has changed, and the curve of the previous
// job.
func (c *cursor) appendCurve(b []byte, j, previous *history.Job) []byte {
	points := j.Loss.Points
	from := c.points
	last, _ := j.Loss.Last()
	switch {
	case j.Loss.Thins != c.thins:
		from = 0
	case from > 0 && points[from-1] != c.last:
		from-- // the newest point was replaced
	}
	if from < len(points) {
		b = append(strconv.AppendInt(append(b, `,"from":`...), int64(from), 10), `,"points":`...)
		b = appendPoints(b, points[from:])
	}
	c.points, c.thins, c.last = len(points), j.Loss.Thins, last
	if previous != nil && c.previous != previous.Number {
		c.previous = previous.Number
		b = appendText(append(b, `,"previous":{"name":`...), previous.ID.Name())
		b = appendPoints(append(b, `,"points":`...), previous.Loss.Points)
		b = append(b, '}')
	}
	return b
}

func appendPoints(b []byte, points []history.Point) []byte {
	b = append(b, '[')
	for i, p := range points {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendInt(append(b, '['), millis(p.At), 10), ',')
		b = append(strconv.AppendUint(b, p.Examples, 10), ',')
		b = append(appendFloat(b, p.Loss), ',')
		b = append(strconv.AppendUint(b, uint64(p.Pass), 10), ',')
		b = append(strconv.AppendUint(b, p.Steps, 10), ',')
		b = append(appendFloat(b, p.Holdout), ']')
	}
	return append(b, ']')
}

// appendTree appends the parent of each rank in the job's tree if the members have changed; -1 is
// the root, and -2 a rank without which the job continues. Jobs with vw workers have vw's tree.
func (c *cursor) appendTree(b []byte, j *history.Job) []byte {
	parents := parentsOf(&j.Status, len(j.Ranks))
	var text []byte
	for i, p := range parents {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(p), 10)
	}
	if members := string(text); members != c.members {
		c.members = members
		b = append(append(append(b, `,"parents":[`...), members...), ']')
	}
	return b
}

// maxEdges limits the edges that the page shows: those with the most bytes.
const maxEdges = 256

// appendTraffic appends the time of all ranks, the bytes by class of edge and the edges, if they have changed.
func (c *cursor) appendTraffic(b []byte, j *history.Job) []byte {
	t := j.Status.Traffic
	if t == nil {
		return b
	}
	text := []byte(`{"times":[`)
	for p, d := range t.Times {
		if p > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, millis(d), 10)
	}
	var all []byte
	for _, k := range t.Classes {
		all = appendInts(all, int64(k.Via), local(k.Local), int64(k.Sent), int64(k.Received))
	}
	text = append(append(append(text, `],"classes":[`...), all...), `],"edges":[`...)
	all = all[:0]
	for _, e := range j.Edges(maxEdges) {
		all = appendInts(all, int64(e.From), int64(e.To), int64(e.Via), local(e.Local), int64(e.Rate), int64(e.Bytes))
	}
	text = append(append(text, all...), `]}`...)
	if s := string(text); s != c.traffic {
		c.traffic = s
		b = append(append(b, `,"traffic":`...), s...)
	}
	return b
}

// local returns 1 for an edge within a machine.
func local(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

func parentsOf(s *protocol.JobStatus, total int) []int {
	parents := make([]int, total)
	for _, r := range s.Removed {
		if r >= 0 && r < total {
			parents[r] = -2
		}
	}
	var live []int // by position
	for r, p := range parents {
		if p != -2 {
			live = append(live, r)
		}
	}
	if len(live) == 0 {
		return parents
	}
	tree := topo.Binary(len(live))
	if s.VW {
		tree = topo.VW(len(live))
	}
	for at, r := range live {
		if parents[r] = tree.Parent(at); parents[r] >= 0 {
			parents[r] = live[parents[r]]
		}
	}
	return parents
}

// maxWaits limits the sentences about waiting ranks.
const maxWaits = 6

// appendWaits appends who waits for whom, in words.
func appendWaits(b []byte, j *history.Job) []byte {
	var texts []string
	for _, w := range j.Waits() {
		if texts = append(texts, w.Text); len(texts) == maxWaits {
			break
		}
	}
	if texts == nil {
		return append(b, "[]"...)
	}
	text, err := json.Marshal(texts)
	if err != nil {
		panic("BUG: page: texts are no JSON: " + err.Error())
	}
	return append(b, text...)
}

// summary is what the list of jobs has of a job.
type summary struct {
	N        int      `json:"n"`
	Name     string   `json:"name"`
	UniqueID string   `json:"unique_id"` // text: JavaScript's numbers have 53 bits
	State    string   `json:"state"`
	Report   string   `json:"report"`
	Epoch    string   `json:"epoch,omitempty"`
	OnLoss   string   `json:"on_loss,omitempty"`
	Total    int      `json:"total"`
	Joined   int      `json:"joined"`
	Standbys int      `json:"standbys,omitempty"`
	Spares   int      `json:"spares,omitempty"`
	Phases   []int    `json:"phases"` // number of ranks in each phase
	Opened   int64    `json:"opened"` // ms since 1970
	Ended    int64    `json:"ended,omitempty"`
	Outcome  string   `json:"outcome,omitempty"`
	Cause    string   `json:"cause,omitempty"`
	Pass     uint32   `json:"pass"`
	Passes   int      `json:"passes,omitempty"` // of the whole job; 0: unknown
	Early    bool     `json:"early,omitempty"`  // it may end before the last of them
	Steps    uint64   `json:"steps"`
	Examples uint64   `json:"examples"`
	Loss     *float64 `json:"loss,omitempty"`
	Holdout  *float64 `json:"holdout,omitempty"`
}

func summaryOf(j *history.Job) summary {
	s := &j.Status
	v := summary{
		N: j.Number, Name: j.ID.Name(), UniqueID: strconv.FormatUint(j.ID.UniqueID, 10), State: s.State, Report: s.Report, Epoch: s.Epoch, OnLoss: s.OnLoss,
		Total: s.Total, Joined: s.Joined, Standbys: s.Standbys, Spares: s.Spares, Phases: make([]int, len(history.Phases)), Opened: j.Opened.UnixMilli(),
	}
	v.Passes, v.Early = passesOf(s.Options)
	for i := range j.Ranks {
		v.Phases[j.Ranks[i].Phase()]++
	}
	if e := j.Ended; e != nil {
		v.Ended, v.Outcome, v.Cause, v.State, v.Report = e.Ended.UnixMilli(), e.Outcome, e.Cause, e.Outcome, e.Cause
		if e.Found != nil {
			v.Cause, v.Report = e.Found.Line, e.Found.Line
		}
	}
	if p, ok := j.Loss.Last(); ok {
		v.Pass, v.Steps, v.Examples, v.Loss, v.Holdout = p.Pass, p.Steps, p.Examples, finite(p.Loss), finite(p.Holdout)
	}
	return v
}

// finite returns nil for a number that JSON cannot represent.
func finite(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

// passesOf returns the number of passes in the options of a job of the learner; 0: unknown. early means that the solver may end
// before the last of them, since it has converged.
func passesOf(options string) (passes int, early bool) {
	method, shared := "", false
	for word := range strings.FieldsSeq(options) {
		switch name, value, _ := strings.Cut(word, "="); name {
		case "method":
			method = value
		case "library": // shared vectors
			shared = true
		case "passes":
			passes, _ = strconv.Atoi(value) // 0: it is no number
		}
	}
	if shared {
		return passes, false
	}
	kind, stages, _ := strings.Cut(method, ":")
	switch kind {
	case "sgd":
		return passes, false
	case "bfgs", "conjugate_gradient":
		return passes, true
	case "hybrid":
		first, second, _ := strings.Cut(stages, ":")
		p, err := strconv.Atoi(first)
		q, err2 := strconv.Atoi(second)
		if err == nil && err2 == nil {
			return p + q, true
		}
	}
	return 0, false
}

// listCursor is the list of jobs that the clients have been sent.
type listCursor struct{ jobs map[int]string }

// append appends the beginning of a message: the jobs that have changed, and the cursor moves. The
// caller closes the object.
func (c *listCursor) append(b []byte, p *Page, full bool) []byte {
	b = strconv.AppendInt(append(b, `{"now":`...), p.at.UnixMilli(), 10)
	if full {
		b = appendText(append(b, `,"full":true,"version":`...), p.status.Version)
		b = strconv.AppendBool(append(b, `,"logs":`...), p.cfg.Log != nil)
		control := p.cfg.Control
		b = strconv.AppendBool(append(b, `,"cancel":`...), control != nil && control.Cancel != nil)
		b = strconv.AppendBool(append(b, `,"kill":`...), control != nil && control.Kill != nil)
	}
	b = strconv.AppendBool(append(b, `,"draining":`...), p.status.Draining)
	b = append(b, `,"jobs":[`...)
	was := c.jobs
	c.jobs = make(map[int]string, len(was))
	first := len(b)
	for _, j := range p.history.Jobs() {
		text, err := json.Marshal(summaryOf(j))
		if err != nil {
			panic("BUG: page: a summary is no JSON: " + err.Error())
		}
		c.jobs[j.Number] = string(text)
		if was[j.Number] == string(text) {
			continue
		}
		if len(b) > first {
			b = append(b, ',')
		}
		b = append(b, text...)
	}
	b = append(b, `],"gone":[`...)
	first = len(b)
	for n := range was {
		if _, has := c.jobs[n]; !has {
			if len(b) > first {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(n), 10)
		}
	}
	return append(b, ']')
}
