// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/page"
	"github.com/gvw-project/gvw/internal/monitor/site"
	"github.com/gvw-project/gvw/internal/monitor/traffic"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/tests/harness"
)

//go:embed testdata/axe/axe.min.js
var axe string

// accessible fails the test if axe-core finds a violation, for example a missing name or role, or text
// without contrast.
func (c *chromium) accessible(where string) {
	c.t.Helper()
	c.eval(axe+";0", nil)
	var found []string
	c.eval(`axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 150) + ' ' + n.failureSummary)))`, &found)
	for _, v := range found {
		c.t.Errorf("%s: %s", where, v)
	}
}

// clean fails the test if the console has a message, or the page asked another server.
func (c *chromium) clean(base string) {
	c.t.Helper()
	if m := c.console(); len(m) > 0 {
		c.t.Errorf("messages of the console: %q", m)
	}
	if urls := c.elsewhere(base); len(urls) > 0 {
		c.t.Errorf("requests to other servers: %q", urls)
	}
}

// looks checks the page in both colour schemes and in narrow windows.
func (c *chromium) looks(name string) {
	c.t.Helper()
	views := []struct {
		width, height int
		scheme        string
	}{{1280, 1000, "light"}, {1280, 1000, "dark"}, {360, 900, "light"}}
	if testing.Short() {
		views = views[2:]
		c.t.Log("sampled: the page only in a narrow window")
	}
	for _, v := range views {
		c.view(v.width, v.height, v.scheme)
		at := fmt.Sprintf("%s-%d-%s", name, v.width, v.scheme)
		c.accessible(at)
		var wide int
		if c.eval("document.documentElement.scrollWidth - innerWidth", &wide); wide > 0 {
			c.t.Errorf("%s: the page is %d pixels wider than the window", at, wide)
		}
		c.picture(at)
	}
	c.view(1280, 1000, "light")
}

// TestRealJob opens the page of a job of three ranks, kills one of them by the page, follows its
// replacement, and cancels the job by the page.
func TestRealJob(t *testing.T) {
	t.Parallel()
	c := startChromium(t)
	dir := t.TempDir()
	cmd, link, stderr := start(t, dir, "-n", "3", "--http", "--http_control", "--log_dir", filepath.Join(dir, "logs"), "--",
		"--loss_function", "logistic", "--passes", "1000000", "--holdout_off", "-c", "-k", "-f", filepath.Join(dir, "model"))
	base, _, ok := strings.Cut(link, "/login")
	if !ok {
		t.Fatalf("no link: %q", link)
	}
	c.visit(link)
	const rows = "[...document.querySelectorAll('#rows [role=row]:not([hidden])')]"
	c.until("three ranks train", rows+".length === 3 && "+rows+".every(r => Number(r.querySelector('.c-ex').textContent.replace(/,/g, '')) > 0)")
	c.until("the loss is drawn", "document.querySelector('#chart path.now')?.getAttribute('d').length > 10")
	c.until("the rates of ranks are known", rows+".every(r => / B|kB|MB|GB/.test(r.querySelector('.c-rate').textContent))")
	c.until("the edges have rates and carriers", "[...document.querySelectorAll('#edges li')].some(e => /^[0-2] → [0-2]: .*B\\/s, .*, (shared memory|TCP, same machine)$/.test(e.textContent)) && document.getElementById('classes').textContent.startsWith('Sent: ')")
	c.until("the time is divided", "/load \\d+ %, compute \\d+ %, network \\d+ %, wait \\d+ %/.test(document.getElementById('facts').textContent)")
	c.until("the time left is estimated", "document.getElementById('facts').textContent.includes('remaining≈ ')")
	c.until("the graph has a text", "/ranks.* per second/.test(document.getElementById('tree').getAttribute('aria-label'))")
	c.looks("job")

	// The page ends the process of rank 1, which takes a confirmation.
	c.eval("document.getElementById('grid').focus()", nil)
	for _, key := range []string{"Home", "ArrowDown", "Enter"} {
		c.do("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": key})
		c.do("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key})
	}
	c.until("the dialog of rank 1 has its log", "document.getElementById('rank').open && document.getElementById('rank-h').textContent === 'Rank 1' && document.getElementById('tail').textContent.length > 20")
	c.accessible("the dialog of a rank")
	c.picture("rank")
	c.eval("document.getElementById('kill').click()", nil)
	c.until("the page asks", "document.getElementById('ask').open")
	c.accessible("the question")
	c.eval("document.getElementById('yes').click()", nil)
	c.until("the question is answered", "!document.getElementById('ask').open")
	c.eval("document.getElementById('close').click()", nil)
	c.until("rank 1 has a second attempt", rows+".some(r => r.querySelector('.c-rank').textContent === '1' && r.querySelector('.c-att').textContent === '2')")
	c.until("the log has the loss and the recovery", "['lost rank 1', 'attempt 2', 'epoch 1.2 has begun'].every(w => document.getElementById('log').textContent.includes(w))")
	c.until("the ranks work again", rows+".every(r => /computing|exchanging|waiting|ready/.test(r.querySelector('.c-phase').textContent))")
	c.looks("recovered")

	c.eval("document.getElementById('cancel').click()", nil)
	c.until("the page asks again", "document.getElementById('ask').open")
	c.clean(base)
	c.eval("document.getElementById('yes').click()", nil)
	text := stderr() // stderr must be read to its end before Wait
	err := cmd.Wait()
	c.until("the page shows the end", "document.getElementById('state').textContent === 'cancelled'")
	c.until("the page shows that the server has gone", "document.getElementById('link').className === 'lost'")
	c.accessible("the end")
	c.picture("ended")
	if err == nil || !strings.Contains(text, "cancelled") {
		t.Errorf("the job was cancelled, but: %v\n%s", err, text)
	}
}

// built is where build makes gvw; empty: nowhere.
var built string

// build builds gvw once for all tests.
var build = sync.OnceValues(func() (_ string, err error) {
	if built, err = os.MkdirTemp("", "gvw-browser"); err != nil {
		return "", err
	}
	programs, err := harness.Programs(context.Background(), os.Getenv(harness.EnvPrograms), built, "gvw")
	return filepath.Join(programs, "gvw"), err
})

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(built) // not the directory of programs that others made
	os.Exit(code)
}

// start starts gvw run over a small data set, and returns the link of its page. rest returns its messages after that when it has ended.
func start(t *testing.T, dir string, args ...string) (cmd *exec.Cmd, link string, rest func() string) {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	var data strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&data, "%d |f a%d b%d c%d\n", 2*(i%2)-1, i%2, i%7, i%31)
	}
	train := filepath.Join(dir, "train.vw")
	if err := os.WriteFile(train, []byte(data.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	cmd = exec.CommandContext(ctx, bin, append(append([]string{"run"}, args...), "-d", train)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends its ranks
	cmd.WaitDelay = 20 * time.Second
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for link == "" && lines.Scan() {
		if _, after, ok := strings.Cut(lines.Text(), "gvw run: page "); ok {
			link, _, _ = strings.Cut(after, " ")
		}
	}
	var text strings.Builder
	var drain sync.WaitGroup
	drain.Go(func() {
		for lines.Scan() {
			text.WriteString(lines.Text() + "\n")
		}
	})
	return cmd, link, func() string {
		drain.Wait()
		return text.String()
	}
}

// TestSharedVectors opens the page of a job whose ranks exchange weights along a ring: it shows the rounds, the bytes and the edges
// of the graph.
func TestSharedVectors(t *testing.T) {
	t.Parallel()
	c := startChromium(t)
	cmd, link, stderr := start(t, t.TempDir(), "-n", "4", "--http", "--", "--loss_function", "logistic", "--passes", "1000000", "--holdout_off", "-c", "-k", "--malt", "ring", "--sync", "ssp:2")
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		stderr()
		_ = cmd.Wait() // its error is the interrupt
	}()
	base, _, _ := strings.Cut(link, "/login")
	c.visit(link)
	c.until("both jobs are shown", "document.querySelectorAll('#jobs a').length === 2")
	c.eval("[...document.querySelectorAll('#jobs a')].find(a => a.title.includes('+malt') || Number(a.title) > 4294967296).click()", nil)
	const rows = "[...document.querySelectorAll('#rows [role=row]:not([hidden])')]"
	c.until("the ranks have rounds and rates", rows+".length === 4 && "+rows+".every(r => /round [0-9]+/.test(r.querySelector('.c-step').textContent) && / B|kB|MB|GB/.test(r.querySelector('.c-rate').textContent))")
	c.until("the graph has the edges of a ring", "['0 → 1:', '1 → 2:', '2 → 3:', '3 → 0:'].every(e => document.getElementById('edges').textContent.includes(e))")
	c.until("the passes and the losses are shown", `/pass\s*[1-9][0-9]* of 1000000/.test(document.getElementById('facts').textContent) && /^loss [0-9].* after [1-9]/.test(document.querySelector('#chart svg').getAttribute('aria-label'))`)
	c.until("the graph is no tree", "document.getElementById('tree').getAttribute('aria-label').startsWith('graph: 4 ranks')")
	c.looks("vectors")
	c.clean(base)
}

// synthetic returns a source of a job in which every rank changes with every snapshot. The ranks
// above 500 wait for rank 7.
func synthetic(total int) func() protocol.ServerStatus {
	tick := 0
	began := time.Now()
	return func() protocol.ServerStatus {
		tick++
		seven := 7
		j := protocol.JobStatus{
			UniqueID: 42, State: "wired", Epoch: "1.1", Report: "wired, epoch 1.1", Total: total, Joined: total, OnLoss: "wait", Seconds: time.Since(began).Seconds(),
			Options: "method=sgd bits=18 passes=20 loss_function=logistic",
		}
		for r := range total {
			s := protocol.RankStatus{
				Rank: r, Attempt: uint64(r + 1), Host: fmt.Sprintf("node-%03d", r/4), Address: fmt.Sprintf("10.0.%d.%d:26544", r/256, r%256), State: "ready", Step: "SGD",
				Pass: uint32(tick / 20), Steps: uint64(tick / 20), Examples: uint64(tick * (1000 + r)), Loss: 0.2 + 0.5*math.Exp(-float64(tick)/40) + float64(r%10)/1000,
			}
			if s.Pass > 0 {
				s.Holdout = 0.25 + 0.5*math.Exp(-float64(s.Pass)/2)
			}
			// Each rank sends to its parent and its children in the tree, and the bytes change with every snapshot.
			n := &traffic.Counts{Times: [traffic.Phases]time.Duration{traffic.Computing: time.Since(began), traffic.Waiting: time.Duration(r) * time.Millisecond}}
			for _, to := range []int{(r - 1) / 2, 2*r + 1, 2*r + 2} {
				if to != r && to < total {
					n.Edges = append(n.Edges, traffic.Edge{Rank: to, Local: to/4 == r/4, Sent: uint64(tick*(r+1)) * 1000, Received: uint64(tick*(to+1)) * 1000})
				}
			}
			n.Classes = []traffic.Class{{Via: traffic.TCP, Sent: uint64(tick*(r+1)) * 3000, Received: uint64(tick) * 1000}}
			s.Traffic = n
			if j.Traffic == nil {
				j.Traffic = &traffic.Counts{}
			}
			j.Traffic.Add(n, nil)
			switch {
			case r == 7:
				s.State = "joined"
			case r > total/2 || r == 3:
				s.WaitsFor, s.Collective, s.WaitsSeconds = &seven, 12, 2
			case (r+tick)%3 == 0:
				s.Collective = 12
			}
			j.Ranks = append(j.Ranks, s)
		}
		return protocol.ServerStatus{Version: "test", Jobs: []protocol.JobStatus{j}}
	}
}

// TestManyEvents opens the page of a job whose ranks have another attempt in every snapshot: the log shows the newest 1,000
// events.
func TestManyEvents(t *testing.T) {
	t.Parallel()
	c := startChromium(t)
	status, tick := synthetic(100), uint64(0)
	s, err := site.Start(site.Config{Page: page.Config{Source: func() protocol.ServerStatus {
		st := status()
		tick++
		for i := range st.Jobs[0].Ranks {
			st.Jobs[0].Ranks[i].Attempt += 1000 * tick
		}
		return st
	}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	base, _, _ := strings.Cut(s.URL, "/login")
	c.visit(s.URL)
	const newest = "document.getElementById('log').firstChild.textContent"
	c.until("the log is full", "document.getElementById('log').children.length === 1000")
	for range 2 {
		c.eval("window.seen = "+newest, nil)
		c.until("the log has newer events", newest+" !== window.seen && document.getElementById('log').children.length === 1000")
	}
	c.clean(base)
}

// TestThousandRanks measures the page with a thousand ranks, all of which change twice a second.
func TestThousandRanks(t *testing.T) {
	t.Parallel()
	c := startChromium(t)
	s, err := site.Start(site.Config{Page: page.Config{Source: synthetic(1000)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	base, _, _ := strings.Cut(s.URL, "/login")
	c.view(1280, 1000, "light")
	c.visit(s.URL)
	c.until("a thousand ranks are shown", "document.getElementById('grid').getAttribute('aria-rowcount') === '1001'")
	c.until("the wait is described", "document.getElementById('waits').textContent.includes('for rank 7 on node-001: loading data')")
	c.until("the edges have rates", "document.querySelectorAll('#edges li').length === 12 && document.getElementById('edges').textContent.includes('B/s')")
	var elements int
	if c.eval("document.querySelectorAll('#rows [role=row]').length", &elements); elements > 60 {
		t.Errorf("%d rows exist for a window of 1000 pixels", elements)
	}
	c.until("a few snapshots have arrived", "document.querySelector('#chart path.now')?.getAttribute('d').length > 60")
	c.until("the held-out loss is drawn", "document.querySelector('#chart path.held')?.getAttribute('d').length > 5")
	before, began := c.metrics(), time.Now()
	c.eval("new Promise(done => setTimeout(() => done(true), 6000))", nil)
	after, took := c.metrics(), time.Since(began).Seconds()
	of := func(name string) float64 { return 1000 * (after[name] - before[name]) / took }
	t.Logf("per second: script %.1f ms, layout and style %.1f ms, all tasks %.1f ms", of("ScriptDuration"), of("LayoutDuration")+of("RecalcStyleDuration"), of("TaskDuration"))
	if script := of("ScriptDuration"); script > 5*50 { // five times the goal, for a busy machine
		t.Errorf("%.0f ms of script a second, want less than 50", script)
	}
	c.eval("document.querySelector('#jobs a').focus(); window.seen = document.getElementById('facts').textContent", nil)
	c.until("the facts change, and the link to the job keeps the focus", "document.getElementById('facts').textContent !== window.seen && document.activeElement.matches('#jobs a')")
	c.eval("document.getElementById('grid').scrollTop = 12000", nil)
	c.until("other rows are shown", "[...document.querySelectorAll('#rows .c-rank')].some(e => Number(e.textContent) > 450)")
	c.looks("thousand")
	c.eval("(() => { const f = document.getElementById('filter'); f.value = 'loading'; f.dispatchEvent(new Event('input')); })()", nil)
	c.until("the filter finds rank 7", "document.getElementById('shown').textContent === '1 of 1000'")
	c.clean(base)
}
