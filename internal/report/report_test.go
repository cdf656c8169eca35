// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/xml"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/record"
)

var update = flag.Bool("update", false, "write the golden files")

const (
	// two ranks, of which rank 1 is lost and comes back
	oldRun = `{"event":"run","time":1000,"rank":-1,"version":1,"run":"1/a","program":"gvw v1","go":"go1.26","ranks":2,"options":{"data":["a.vw"],"l2":["1"],"x<y":["<b>"]},"data":[{"name":"a.vw","bytes":2048,"modified":900}]}
{"event":"rank","time":1000.1,"rank":0,"attempt":1,"host":"h0","os":"linux","arch":"amd64","cpu":"C","cpus":2,"memory":1073741824,"pid":1}
{"event":"rank","time":1000.1,"rank":1,"attempt":1,"host":"h1","os":"linux","arch":"amd64","cpus":4,"pid":2}
{"event":"rank","time":1001.5,"rank":1,"attempt":2,"host":"h1","os":"linux","arch":"amd64","cpus":4,"pid":3}
{"event":"pass","time":1001,"rank":0,"pass":1,"method":"SGD","examples":10,"weight":10,"loss":0.5,"valid":{"loss":0.6,"auc":0.8},"best":true,"seconds":0.9}
{"event":"step","time":1001,"rank":0,"first":1,"last":1,"began":1000.2,"seconds":{"read":0.1,"compute":0.3,"update":0.1,"network":0.1,"wait":0.2},"sent":{"1":100},"received":{"1":300},"via":{"1":"tcp"}}
{"event":"step","time":1001.01,"rank":1,"first":1,"last":1,"began":1000.2,"seconds":{"read":0.2,"compute":0.5,"update":0,"network":0.1,"wait":0.01},"sent":{"0":300},"received":{"0":100}}
{"event":"log","time":1001.2,"rank":-1,"level":"ERROR","text":"rank 1 has ended (signal 9)","fields":"attempt=1"}
{"event":"log","time":1001.21,"rank":0,"level":"WARN","text":"the epoch is over","fields":"rank=0"}
{"event":"log","time":1001.22,"rank":1,"level":"WARN","text":"the epoch is over","fields":"rank=1"}
{"event":"pass","time":1003,"rank":0,"pass":2,"method":"L-BFGS","examples":10,"weight":10,"loss":0.25,"holdout_loss":0.4,"stop":true,"seconds":2.9}
{"event":"step","time":1003,"rank":0,"first":2,"last":2,"began":1002,"seconds":{"read":0,"compute":0.5,"update":0.1,"network":0.1,"wait":0.3},"sent":{"1":100},"received":{"1":100}}
{"event":"vectors","time":1002.1,"rank":0,"began":1002,"rounds":3,"sent":3,"dropped":0,"received":2,"overwritten":1,"damaged":0,"merged":1,"behind":1,"oldest":1,"edges":[{"peer":1,"via":"tcp","sent":40,"received":30}]}
{"event":"vectors","time":1003,"rank":0,"began":1002,"rounds":10,"sent":10,"dropped":1,"received":8,"overwritten":3,"damaged":0,"merged":5,"behind":10,"oldest":4,"edges":[{"peer":1,"via":"tcp","sent":50,"received":60},{"peer":1,"via":"shared_memory","local":true,"sent":1000,"received":3000}]}
{"event":"vectors","time":1003,"rank":1,"began":1002.5,"rounds":9,"sent":9,"dropped":0,"received":7,"overwritten":0,"damaged":0,"merged":7,"behind":0,"oldest":0,"edges":[{"peer":0,"via":"tcp","sent":60,"received":50}]}
{"event":"data","time":1004,"rank":0,"examples":6,"bytes":1000,"crc32c":"0000000a"}
{"event":"data","time":1004,"rank":1,"examples":4,"bytes":1048,"crc32c":"0000000b"}
{"event":"end","time":1004,"rank":0,"model":"aabb","passes":2}
{"event":"end","time":1004.5,"rank":-1}
`
	// one process that has failed
	newRun = `{"event":"run","time":2000,"rank":0,"version":1,"run":"2/b","program":"gvw v2","go":"go1.26","ranks":1,"options":{"data":["a.vw"],"l2":["2"]}}
{"event":"pass","time":2001,"rank":0,"pass":1,"method":"SGD","examples":10,"weight":10,"loss":null,"seconds":1}
{"event":"end","time":2002,"rank":0,"error":"the disk is full"}
`
)

func read(t *testing.T, name, text string) *Run {
	t.Helper()
	r, err := record.Read(name, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return &Run{Name: name, Record: r}
}

// complete reports a fault of a page: a reference to another file, a script, or elements that do not match.
func complete(page string) string {
	if bad := regexp.MustCompile(`<script|\bsrc=|\bhref=|@import|url\((?:[^#])|\bon[a-z]+=`).FindString(page); bad != "" {
		return "it has " + bad
	}
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, []string{"meta"}, xml.HTMLEntity
	for {
		if _, err := d.Token(); err == io.EOF {
			return ""
		} else if err != nil {
			return err.Error()
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	one := read(t, "old.jsonl", oldRun)
	scores, err := NewScores([]Case{{0.9, 1, true}, {0.8, 2, false}, {0.8, 1, true}, {0.1, 1, false}})
	if err != nil {
		t.Fatal(err)
	}
	one.Scores, one.Weights = scores, &Weights{Model: "m", Top: []Weight{{"free", 2.5}, {"<i>", -1}}}
	for name, page := range map[string]*Page{
		"one.html":     {Runs: []*Run{one}},
		"two.html":     {Runs: []*Run{read(t, "old.jsonl", oldRun), read(t, "new.jsonl", newRun)}},
		"logjson.html": {Runs: []*Run{read(t, "log.json", `{"pass":1,"method":"SGD","examples":3,"loss":0.5,"seconds":1}`)}},
	} {
		got := string(page.AppendHTML(nil))
		if fault := complete(got); fault != "" {
			t.Errorf("%s: %s", name, fault)
		}
		name = filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
}

var near = cmpopts.EquateApprox(0, 1e-9)

func TestLosses(t *testing.T) {
	t.Parallel()
	byPass, byTime, byTraffic := Losses([]*Run{read(t, "a", oldRun)})
	for _, c := range []struct {
		name string
		x    []float64
		got  []float64
	}{
		{"pass", []float64{1, 2}, byPass.Series[1].X},
		{"time", []float64{0.9, 2.9}, byTime.Series[1].X},
		{"traffic", []float64{400, 3610}, byTraffic.Series[1].X},
		{"held out", []float64{0.6, 0.4}, byPass.Series[0].Y},
		{"train", []float64{0.5, 0.25}, byTraffic.Series[1].Y},
	} {
		if d := cmp.Diff(c.x, c.got, near); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, d)
		}
	}
	if len(byTime.Marks) != 1 || math.Abs(byTime.Marks[0].X-1.2) > 1e-6 {
		t.Errorf("got marks %v, want one at 1.2 s", byTime.Marks)
	}
}

func TestTimesOfRanks(t *testing.T) {
	t.Parallel()
	all, steps := rankTimes(read(t, "a", oldRun).Record)
	want := []rankTime{
		{rank: 0, times: record.Times{Read: 0.1, Compute: 0.8, Update: 0.2, Network: 0.2, Wait: 0.5}},
		{rank: 1, times: record.Times{Read: 0.2, Compute: 0.5, Network: 0.1, Wait: 0.01}, slowest: 1},
	}
	if d := cmp.Diff(want, all, near, cmp.AllowUnexported(rankTime{})); d != "" || steps != 1 {
		t.Errorf("%d steps, -want +got:\n%s", steps, d)
	}
	for q, want := range map[float64]float64{0: 1, 0.5: 2.5, 0.75: 3.25, 1: 4} {
		if got := quantile([]float64{1, 2, 3, 4}, q); got != want {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
	_, bytes := edges(read(t, "a", oldRun).Record)
	if d := cmp.Diff(map[edge]float64{{0, 1}: 200, {1, 0}: 400}, bytes); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// The bytes of shared vectors between two counts are interpolated, from 0 at the begin of the attempt.
func TestReceived(t *testing.T) {
	t.Parallel()
	all := vectorBytes(read(t, "a", oldRun).Record)
	if len(all) != 2 {
		t.Fatalf("got %d attempts, want 2", len(all))
	}
	for at, want := range map[float64]float64{1000: 0, 1002: 0, 1002.05: 15, 1002.1: 30, 1002.55: 30 + 3030*0.5, 1003: 3060, 1010: 3060} {
		if got := received(all[0], at); math.Abs(got-want) > 1e-3 {
			t.Errorf("rank 0 has received %g bytes until %g, want %g", got, at, want)
		}
	}
}

// Of several lines of a rank the newest counts, attempts are added, and each end of an edge knows the bytes of both directions.
func TestExchanges(t *testing.T) {
	t.Parallel()
	all, pairs, seconds := exchanges(read(t, "a", oldRun+
		`{"event":"vectors","time":1004,"rank":1,"began":1003.5,"rounds":12,"sent":3,"received":1,"merged":1,"behind":2,"oldest":2,"edges":[{"peer":0,"via":"tcp","sent":5}]}`+"\n").Record)
	var got [][]string
	for i := range all {
		got = append(got, exchangeRow(&all[i]).cells)
	}
	if d := cmp.Diff([][]string{
		{"rank 0", "10", "10", "8", "3", "1", "0", "5", "2", "4", "1.025 KiB", "2.988 KiB"},
		{"rank 1", "12", "12", "8", "0", "0", "0", "8", "0.25", "2", "65 B", "50 B"},
	}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if d := cmp.Diff(map[pair]both{{0, 1, 0}: {50, 65}, {0, 1, 1}: {1000, 3000}}, pairs, cmp.AllowUnexported(pair{}, both{})); d != "" || math.Abs(seconds-2) > 1e-6 {
		t.Errorf("in %g s, -want +got:\n%s", seconds, d)
	}
	if d := cmp.Diff(map[pair]both{{0, 1, 0}: {200, 400}}, pairsOf(read(t, "a", oldRun).Record), cmp.AllowUnexported(pair{}, both{})); d != "" {
		t.Errorf("collectives: -want +got:\n%s", d)
	}
}

// The area under the curve is the share of pairs in the right order, ties counting half.
func TestAreaUnderTheCurve(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var cases []Case
		for range rapid.IntRange(2, 30).Draw(t, "n") {
			cases = append(cases, Case{float64(rapid.IntRange(-3, 3).Draw(t, "score")), float64(rapid.IntRange(0, 3).Draw(t, "weight")), rapid.Bool().Draw(t, "positive")})
		}
		s, err := NewScores(cases)
		if err != nil {
			t.Skip("one class")
		}
		var right, pairs float64
		for _, a := range cases {
			for _, b := range cases {
				if !a.Positive || b.Positive {
					continue
				}
				w := a.Weight * b.Weight
				pairs += w
				switch {
				case a.Score > b.Score:
					right += w
				case a.Score == b.Score:
					right += w / 2
				}
			}
		}
		c := s.Curves()
		if math.Abs(c.AUC-right/pairs) > 1e-9 {
			t.Fatalf("got %g, want %g", c.AUC, right/pairs)
		}
		if n := len(c.TrueShare); c.TrueShare[0] != 0 || math.Abs(c.TrueShare[n-1]-1) > 1e-9 || math.Abs(c.FalseShare[n-1]-1) > 1e-9 {
			t.Fatalf("the curve does not go from 0, 0 to 1, 1: %v %v", c.FalseShare, c.TrueShare)
		}
		_, positive, negative := s.Histogram()
		var sum float64
		for i := range positive {
			sum += positive[i] + negative[i]
		}
		if math.Abs(sum-s.positive-s.negative) > 1e-9 {
			t.Fatalf("the histogram has weight %g, want %g", sum, s.positive+s.negative)
		}
	})
}

func TestCalibrationAndPrecision(t *testing.T) {
	t.Parallel()
	s, err := NewScores([]Case{{0.95, 1, true}, {0.93, 3, false}, {0.2, 1, true}, {0.2, 1, false}})
	if err != nil {
		t.Fatal(err)
	}
	predicted, share := s.Calibration()
	if d := cmp.Diff([][]float64{{0.2, 0.935}, {0.5, 0.25}}, [][]float64{predicted, share}, near); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if c := s.Curves(); math.Abs(c.AveragePrecision-(0.5*1+0.5*2/6)) > 1e-9 {
		t.Errorf("average precision is %g, want %g", c.AveragePrecision, 0.5*1+0.5*2.0/6)
	}
	margins, err := NewScores([]Case{{-2, 1, false}, {0, 1, true}})
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := margins.Calibration(); math.Abs(p[len(p)-1]-0.5) > 1e-9 {
		t.Errorf("got probability %g for margin 0, want 0.5", p)
	}
}

func TestBadScores(t *testing.T) {
	t.Parallel()
	for want, cases := range map[string][]Case{
		"got prediction NaN for example 2, want a number":                            {{1, 1, true}, {math.NaN(), 1, false}},
		"got weight -1 of example 1, want a number from 0 on":                        {{1, -1, true}},
		"got examples of weight 0 with a label above 0 and 1 with others, want both": {{1, 1, false}},
	} {
		if _, err := NewScores(cases); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Any record that can be read gives a whole page.
func FuzzPage(f *testing.F) {
	f.Add(oldRun)
	f.Add(newRun)
	f.Add(`{"pass":1,"loss":-1e300,"valid":{"<b>":1}}` + "\n" + `{"pass":2,"loss":1e300}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := record.Read("f", strings.NewReader(text))
		if err != nil {
			return
		}
		run := &Run{Name: "f", Record: r}
		if fault := complete(string((&Page{Runs: []*Run{run, run}}).AppendHTML(nil))); fault != "" {
			t.Error(fault)
		}
	})
}
