// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// start is the time of the first snapshot.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// feed adds snapshots to a history, one second apart.
type feed struct {
	h   *History
	now time.Time
	st  protocol.ServerStatus
}

func newFeed(cfg Config) *feed { return &feed{h: New(cfg), now: start} }

// step changes the state by f and adds a snapshot one second later.
func (f *feed) step(change func(s *protocol.ServerStatus)) {
	f.now = f.now.Add(time.Second)
	for i := range f.st.Jobs {
		f.st.Jobs[i].Seconds++
	}
	if change != nil {
		change(&f.st)
	}
	snap := f.st
	snap.Jobs = nil
	for _, j := range f.st.Jobs {
		j.Ranks = append([]protocol.RankStatus(nil), j.Ranks...)
		snap.Jobs = append(snap.Jobs, j)
	}
	f.h.Add(f.now, snap)
}

// job returns a job that fills, with all ranks joined.
func job(id uint64, total int) protocol.JobStatus {
	j := protocol.JobStatus{UniqueID: id, State: "filling", Total: total, Joined: total, OnLoss: "wait"}
	for r := range total {
		j.Ranks = append(j.Ranks, protocol.RankStatus{Rank: r, Attempt: uint64(100 + r), Host: fmt.Sprintf("h%d", r), State: "joined"})
	}
	return j
}

func ready(j *protocol.JobStatus, state, epoch string) {
	j.State, j.Epoch = state, epoch
	for i := range j.Ranks {
		j.Ranks[i].State = "ready"
	}
}

func waits(r *protocol.RankStatus, rank int, collective uint64) {
	r.WaitsFor, r.Collective, r.WaitsSeconds = &rank, collective, 1
}

// A recovery that begins and ends between two snapshots has an event, too.
func TestQuickRecovery(t *testing.T) {
	t.Parallel()
	f := newFeed(Config{})
	f.step(func(s *protocol.ServerStatus) { s.Jobs = append(s.Jobs, job(7, 2)) })
	f.step(func(s *protocol.ServerStatus) { ready(&s.Jobs[0], "wired", "1.1") })
	f.step(func(s *protocol.ServerStatus) {
		s.Jobs[0].Ranks[1].Attempt = 999
		ready(&s.Jobs[0], "wired", "1.2")
	})
	var got []string
	for _, e := range f.h.Job(1).Events {
		if e.Kind == Recover || e.Kind == Wired {
			got = append(got, fmt.Sprintf("%v %v %s", e.At, e.Kind, e.Text))
		}
	}
	want := []string{"1s wired epoch 1.1 has begun with 2 ranks", "2s recovering epoch 1.1 has ended", "2s wired epoch 1.2 has begun with 2 ranks"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("events, -want +got:\n%s", d)
	}
}

// TestLane follows the ranks of a job through the loss of one of them.
func TestLane(t *testing.T) {
	t.Parallel()
	f := newFeed(Config{})
	f.step(func(s *protocol.ServerStatus) { s.Jobs = append(s.Jobs, job(7, 3)) })
	f.step(func(s *protocol.ServerStatus) { s.Jobs[0].Ranks[0].State = "ready" })
	f.step(func(s *protocol.ServerStatus) { ready(&s.Jobs[0], "wired", "1.1") })
	f.step(func(s *protocol.ServerStatus) { // rank 1 has not entered the collective of rank 0
		waits(&s.Jobs[0].Ranks[0], 1, 5)
		waits(&s.Jobs[0].Ranks[2], 0, 5)
	})
	if got, want := texts(f.h.Job(1).Waits()), []string{"ranks 0, 2 wait 0s for rank 1 on h1: computing"}; !cmp.Equal(got, want) {
		t.Errorf("waits: %s", cmp.Diff(want, got))
	}
	f.step(nil)
	f.step(func(s *protocol.ServerStatus) { waits(&s.Jobs[0].Ranks[1], 0, 5) }) // it has
	f.step(func(s *protocol.ServerStatus) {                                     // rank 1 is lost
		j := &s.Jobs[0]
		j.LastLoss = &protocol.LossStatus{Epoch: "1.1", Rank: 1, Host: "h1", Why: "connection closed"}
		j.State, j.Joined, j.Report = "recovering", 2, "epoch 1.1 ended 0s ago; rank 1 (h1) was lost 0s ago: connection closed"
		j.Ranks = []protocol.RankStatus{j.Ranks[0], j.Ranks[2]}
		for i := range j.Ranks {
			j.Ranks[i].WaitsFor, j.Ranks[i].Collective = nil, 0
		}
	})
	f.step(func(s *protocol.ServerStatus) { // another attempt joins
		j := &s.Jobs[0]
		j.Joined = 3
		j.Ranks = []protocol.RankStatus{j.Ranks[0], {Rank: 1, Attempt: 999, Host: "h9", State: "joined"}, j.Ranks[1]}
	})
	f.step(func(s *protocol.ServerStatus) { ready(&s.Jobs[0], "wired", "1.2") })
	f.step(func(s *protocol.ServerStatus) {
		s.Jobs = nil
		s.Ended = []protocol.EndedJob{{UniqueID: 7, Outcome: "finished", Rank: -1, Total: 3, Ended: f.now}}
	})
	j := f.h.Job(1)
	lane := func(rank int) (out []string) {
		for _, s := range j.Ranks[rank].Spans {
			text := fmt.Sprintf("%v %v", s.At, s.Phase)
			if s.For >= 0 {
				text += fmt.Sprintf(" %d", s.For)
			}
			out = append(out, text)
		}
		return out
	}
	want := [][]string{
		{"0s loading data", "1s ready", "2s computing", "3s waiting 1", "5s exchanging 1", "6s ready", "8s computing", "9s complete"},
		{"0s loading data", "2s computing", "5s exchanging 0", "6s absent", "7s loading data", "8s computing", "9s complete"},
		{"0s loading data", "2s computing", "3s waiting 0", "5s exchanging 0", "6s ready", "8s computing", "9s complete"},
	}
	if d := cmp.Diff(want, [][]string{lane(0), lane(1), lane(2)}); d != "" {
		t.Errorf("lanes, -want +got:\n%s", d)
	}
	if d := cmp.Diff([]Mark{{6 * time.Second, Lost}, {7 * time.Second, Joined}}, j.Ranks[1].Marks); d != "" {
		t.Errorf("marks, -want +got:\n%s", d)
	}
	var log []string
	for _, e := range j.Events {
		log = append(log, fmt.Sprintf("%v %v %d %s", e.At, e.Kind, e.Rank, e.Text))
	}
	wantLog := []string{
		"0s opened -1 opened for 3 ranks",
		"0s joined -1 ranks 0-2 have joined",
		"2s wired -1 epoch 1.1 has begun with 3 ranks",
		"6s lost 1 lost rank 1 on h1: connection closed", "6s recovering -1 recovering: epoch 1.1 ended 0s ago; rank 1 (h1) was lost 0s ago: connection closed",
		"7s joined 1 rank 1 on h9 has joined (attempt 2)", "8s wired -1 epoch 1.2 has begun with 3 ranks", "9s ended -1 finished",
	}
	if d := cmp.Diff(wantLog, log); d != "" {
		t.Errorf("events, -want +got:\n%s", d)
	}
	if j.Ended == nil || j.Ended.Outcome != "finished" || j.Ranks[1].Attempts != 2 {
		t.Errorf("ended %+v, %d attempts of rank 1", j.Ended, j.Ranks[1].Attempts)
	}
}

func texts(waits []Wait) (out []string) {
	for _, w := range waits {
		out = append(out, w.Text)
	}
	return out
}

// TestPrevious compares a job with the newest ended one of the same name.
func TestPrevious(t *testing.T) {
	t.Parallel()
	f := newFeed(Config{})
	one := func(id uint64, key, options string, loss float64) *Job {
		f.step(func(s *protocol.ServerStatus) {
			j := job(id, 1)
			j.RunKey, j.Options = key, options
			j.Ranks[0].Examples, j.Ranks[0].Loss = 10, loss
			s.Jobs = append(s.Jobs[:0], j)
		})
		j := f.h.Jobs()[len(f.h.Jobs())-1]
		f.step(func(s *protocol.ServerStatus) { s.Jobs = nil })
		return j
	}
	a, b := one(1, "run", "x=1", 0.5), one(2, "other", "x=1", 0.4)
	c, d := one(9, "run", "x=2", 0.3), one(2, "third", "x=2", 0.2)
	e := one(5, "fifth", "x=1", 0.1)
	for i, test := range []struct{ of, want *Job }{{a, nil}, {b, a}, {c, a}, {d, b}, {e, b}} {
		if got := f.h.Previous(test.of); got != test.want {
			t.Errorf("case %d: previous of job %d: got %v", i, test.of.Number, got)
		}
	}
	if p, _ := d.Loss.Last(); p.Loss != 0.2 || d.Ended.Outcome != "unknown" {
		t.Errorf("loss %v, outcome %s", p.Loss, d.Ended.Outcome)
	}
}

// TestShortJob shows a job that no snapshot has seen while it ran.
func TestShortJob(t *testing.T) {
	t.Parallel()
	f := newFeed(Config{Jobs: 2})
	f.step(func(s *protocol.ServerStatus) {
		for id := range uint64(3) {
			s.Ended = append(s.Ended, protocol.EndedJob{UniqueID: id, Outcome: "failed", Cause: "no data", Rank: 1, Total: 2, Seconds: 1, Ended: start.Add(time.Duration(id) * time.Second)})
		}
	})
	f.step(nil) // the same records
	jobs := f.h.Jobs()
	if len(jobs) != 2 || jobs[0].ID.UniqueID != 1 || jobs[1].ID.UniqueID != 2 {
		t.Fatalf("jobs %v", jobs)
	}
	if e := jobs[1].Events; len(e) != 1 || e[0].Text != "failed: no data" || e[0].At != time.Second {
		t.Errorf("events %v", e)
	}
}

// The cause of a failure is found after the end of the job, that of a loss while it runs. Each is one event.
func TestFoundCauses(t *testing.T) {
	t.Parallel()
	f := newFeed(Config{})
	f.step(func(s *protocol.ServerStatus) { s.Jobs = []protocol.JobStatus{job(7, 2)} })
	f.step(func(s *protocol.ServerStatus) {
		s.Jobs[0].Found = &protocol.FoundCause{Rank: 1, Line: "rank 1 (h1) ended"}
	})
	f.step(func(s *protocol.ServerStatus) {
		s.Jobs = nil
		s.Ended = []protocol.EndedJob{{UniqueID: 7, Outcome: "failed", Cause: "no space", Rank: 0, Total: 2, Ended: f.now}}
	})
	f.step(func(s *protocol.ServerStatus) {
		e := s.Ended[0]
		e.Found = &protocol.FoundCause{Rank: 0, Line: "rank 0 (h0) has a full disk"}
		s.Ended = []protocol.EndedJob{e}
	})
	f.step(nil)
	jobs := f.h.Jobs()
	if len(jobs) != 1 {
		t.Fatalf("got %d jobs", len(jobs))
	}
	var texts []string
	for _, e := range jobs[0].Events {
		texts = append(texts, e.Text)
	}
	want := []string{"opened for 2 ranks", "ranks 0, 1 have joined", "cause: rank 1 (h1) ended", "failed: no space", "cause: rank 0 (h0) has a full disk"}
	if d := cmp.Diff(want, texts); d != "" {
		t.Error(d)
	}
}

// TestSameName distinguishes two jobs with the same number that follow each other within one
// interval.
func TestSameName(t *testing.T) {
	t.Parallel()
	f := newFeed(Config{})
	f.step(func(s *protocol.ServerStatus) {
		j := job(1, 1)
		j.Seconds = 10
		s.Jobs = append(s.Jobs, j)
	})
	f.step(func(s *protocol.ServerStatus) {
		s.Jobs[0].Seconds = 0.2
		s.Ended = []protocol.EndedJob{{UniqueID: 1, Outcome: "cancelled", Rank: -1, Ended: f.now}}
	})
	if jobs := f.h.Jobs(); len(jobs) != 2 || jobs[0].Ended == nil || jobs[0].Ended.Outcome != "cancelled" || jobs[1].Ended != nil {
		t.Errorf("jobs %+v", jobs)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	err := Config{Jobs: -1, Events: -2}.Validate()
	if err == nil || !strings.Contains(err.Error(), "Config.Jobs is -1") || !strings.Contains(err.Error(), "Config.Events is -2") {
		t.Errorf("got %v", err)
	}
}

// TestOldHeartbeats does not take a rank for waiting because the heartbeat of its peer is older.
func TestOldHeartbeats(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name          string
		peer          protocol.RankStatus
		inside        float64 // seconds since the rank's first heartbeat in collective 9
		want          Phase
		withoutWaiter bool
	}{
		{"an older heartbeat, of an earlier collective", protocol.RankStatus{State: "ready", Collective: 8, Silent: 0.9}, 0.2, Exchanging, false},
		{"a newer heartbeat, of an earlier collective", protocol.RankStatus{State: "ready", Collective: 8, Silent: 0.9}, 1.2, Waiting, false},
		{"a newer heartbeat, without a collective", protocol.RankStatus{State: "ready", Silent: 0.1}, 1.2, Waiting, false},
		{"the same collective", protocol.RankStatus{State: "ready", Collective: 9, Silent: 0.1}, 5, Exchanging, false},
		{"a later collective", protocol.RankStatus{State: "ready", Collective: 10, Silent: 0.1}, 5, Exchanging, false},
		{"a peer that loads its data", protocol.RankStatus{State: "joined", Silent: 0.5}, 0.1, Waiting, false},
		{"no rank named", protocol.RankStatus{}, 3, Exchanging, true},
	} {
		one := 1
		r := protocol.RankStatus{State: "ready", WaitsFor: &one, Collective: 9, WaitsSeconds: test.inside}
		if test.withoutWaiter {
			r.WaitsFor = nil
		}
		got, _ := phaseOf(&protocol.JobStatus{State: "wired"}, &r, func(int) *protocol.RankStatus { return &test.peer })
		if got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

// TestMeanOfRanks weights the losses of the ranks by their examples, and takes the held-out loss of the
// newest pass.
func TestMeanOfRanks(t *testing.T) {
	t.Parallel()
	f := newFeed(Config{})
	f.step(func(s *protocol.ServerStatus) {
		j := job(1, 4)
		for r, v := range []protocol.RankStatus{{Pass: 3, Steps: 3, Examples: 30, Loss: 0.2, Holdout: 0.6}, {Pass: 2, Steps: 2, Examples: 10, Loss: 0.6, Holdout: 0.7}, {Pass: 3, Steps: 4, Holdout: 0.6}} {
			v.Rank, v.Attempt, v.Host, v.State = r, 1, "h", "ready"
			j.Ranks[r] = v
		}
		s.Jobs = append(s.Jobs, j)
	})
	got, _ := f.h.Job(1).Loss.Last()
	got.Loss = float64(int(got.Loss*1e6+0.5)) / 1e6
	if want := (Point{Examples: 40, Loss: 0.3, Pass: 2, Steps: 2, Holdout: 0.6}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// While a job fills, ranks that are ready wait for those that load their data or have not joined.
func TestWaitsBeforeTheStart(t *testing.T) {
	h := New(Config{})
	t0 := time.Unix(1000, 0)
	for i := range 13 {
		h.Add(t0.Add(time.Duration(i)*time.Second), protocol.ServerStatus{Jobs: []protocol.JobStatus{{
			UniqueID: 1, State: "filling", Total: 4, Joined: 3, Seconds: float64(i),
			Ranks: []protocol.RankStatus{{Rank: 0, Attempt: 1, Host: "h0", State: "ready"}, {Rank: 1, Attempt: 2, Host: "h1", State: "joined"}, {Rank: 3, Attempt: 3, Host: "h3", State: "ready"}},
		}}})
	}
	var got []string
	for _, w := range h.Jobs()[0].Waits() {
		got = append(got, w.Text)
	}
	want := []string{"ranks 0, 3 wait 12s for rank 1 on h1: loading data", "ranks 0, 3 wait 12s for rank 2: absent"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A rank of a job of shared vectors waits for the rank whose update is missing.
func TestWaitsForAnUpdate(t *testing.T) {
	h := New(Config{})
	one := 1
	h.Add(time.Unix(1000, 0), protocol.ServerStatus{Jobs: []protocol.JobStatus{{
		UniqueID: 1, State: "wired", Total: 2, Joined: 2,
		Ranks: []protocol.RankStatus{{Rank: 0, Attempt: 1, State: "ready", WaitsFor: &one}, {Rank: 1, Attempt: 2, State: "ready", Host: "h1", Traffic: &traffic.Counts{Rounds: traffic.Rounds{Sent: 7}}}},
	}}})
	if w := h.Jobs()[0].Waits(); len(w) != 1 || w[0].Text != "rank 0 waits 0s for rank 1 on h1: computing, round 7" {
		t.Errorf("got %+v", w)
	}
}

// The rate of an edge comes from the times of the counts, not from those of the snapshots. Another attempt begins again.
func TestRates(t *testing.T) {
	h := New(Config{})
	t0 := time.Unix(1000, 0)
	add := func(at int, attempt uint64, elapsed time.Duration, bytes uint64) *Job {
		c := &traffic.Counts{Times: [traffic.Phases]time.Duration{traffic.Computing: elapsed}, Classes: []traffic.Class{{Sent: bytes}}, Edges: []traffic.Edge{{Rank: 1, Sent: bytes}}}
		h.Add(t0.Add(time.Duration(at)*time.Second), protocol.ServerStatus{Jobs: []protocol.JobStatus{{
			UniqueID: 1, State: "wired", Total: 2, Joined: 1, Seconds: float64(at), Ranks: []protocol.RankStatus{{Attempt: attempt, State: "ready", Traffic: c}},
		}}})
		return h.Jobs()[0]
	}
	check := func(j *Job, rate float64, bytes uint64) {
		t.Helper()
		if got, _ := j.Rate(0); got != rate {
			t.Errorf("got %v bytes a second, want %v", got, rate)
		}
		if d := cmp.Diff([]Edge{{From: 0, To: 1, Bytes: bytes, Rate: max(0, rate)}}, j.Edges(10)); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	}
	check(add(1, 1, time.Second, 100), -1, 100)
	check(add(2, 1, 3*time.Second, 500), 200, 500)
	check(add(3, 2, time.Second, 50), -1, 50)
	check(add(4, 2, 2*time.Second, 60), 10, 60)
	if j := h.Jobs()[0]; len(j.Edges(0)) != 0 {
		t.Error("the limit of the edges is exceeded")
	}
}
