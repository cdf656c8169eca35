// SPDX-License-Identifier: Apache-2.0

//go:build unix

package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/cli"
)

// TestMain makes this binary the program on the other machine, and its worker.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "remote":
		p := &cli.Process{Name: os.Args[0], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit}
		ctx, stop := cli.Interruptible(context.Background(), p, cli.SignalPolicy{})
		err := Command(ctx, p, nil, os.Args[2:])
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case len(os.Args) > 1 && os.Args[1] == "work":
		work(os.Args[2:])
	default:
		receiptWithin, endWithin = time.Minute, time.Minute // no test is about these limits
		os.Exit(m.Run())
	}
}

// work is a worker: it prints its words, waits for a file if there is one, and exits with a code.
func work(args []string) {
	code, _ := strconv.Atoi(args[0])
	secret, _ := os.Getwd()
	fmt.Println(args[1], "attempt", os.Getenv("GVW_ATTEMPT"), os.Getenv("GVW_TEST"), filepath.Base(secret), os.Getenv("GVW_SECRET_FD") != "")
	if len(args) > 2 {
		for {
			if _, err := os.Stat(args[2]); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		fmt.Printf("and the rest, %d words\n", len(args))
	}
	if code < 0 {
		_ = syscall.Kill(os.Getpid(), syscall.Signal(-code))
		select {}
	}
	os.Exit(code)
}

// output collects the output of a tether.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// until waits until the output has a text.
func (o *output) until(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(o.String(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %q in the output:\n%s", text, o)
		}
	}
}

// tethered returns a tether to a worker with these arguments, by a client in place of ssh that writes its process id to the
// file pid of dir, and fails while there is a file cut.
func tethered(t *testing.T, args ...string) (tether *Tether, out *output, dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv("TMPDIR", dir)
	client := filepath.Join(dir, "client")
	script := fmt.Sprintf("#!/bin/sh\n[ ! -e %[1]s/cut ] || exit 255\necho $$ >%[1]s/pid\nshift\nexec sh -c \"$1\"\n", dir)
	if err := os.WriteFile(client, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	out = &output{}
	return &Tether{
		SSH: []string{client}, Host: "other", Program: os.Args[0], Out: out,
		Order: Order{Run: "r.0", Attempt: 1, Dir: dir, Args: append([]string{"work"}, args...), Env: []string{"GVW_TEST=yes"}, Secret: []byte("a secret of many bytes")},
	}, out, dir
}

// noFiles checks that no directory of a worker is left.
func noFiles(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, keepersIn+"*", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestTether(t *testing.T) {
	for _, c := range []struct {
		code int
		want End
	}{{0, End{}}, {6, End{Code: 6}}, {-9, End{Code: 137, Signal: 9}}} {
		tether, out, dir := tethered(t, strconv.Itoa(c.code), "hello")
		end, err := tether.Run(t.Context())
		if err != nil || end != c.want {
			t.Errorf("got %+v, %v; want %+v\n%s", end, err, c.want, out)
		}
		if want := "hello attempt 1 yes " + filepath.Base(dir) + " true\n"; out.String() != want {
			t.Errorf("the output: got %q, want %q", out, want)
		}
		noFiles(t, dir)
	}
}

func TestTetherConnectsAgain(t *testing.T) {
	tether, out, dir := tethered(t, "0", "hello", filepath.Join(t.TempDir(), "go"))
	gate := tether.Order.Args[3]
	over := make(chan os.Signal, 1)
	tether.Over = over
	done := make(chan error, 1)
	var end End
	go func() {
		var err error
		end, err = tether.Run(t.Context())
		done <- err
	}()
	out.until(t, "hello")
	over <- OverSignal // the job has been over, and has begun again
	cut(t, dir)
	out.until(t, "the connection to other is lost")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || end != (End{}) {
		t.Errorf("got %+v, %v\n%s", end, err, out)
	}
	if got := out.String(); strings.Count(got, "hello") != 1 || strings.Count(got, "and the rest") != 1 {
		t.Errorf("the output is not there once:\n%s", got)
	}
	noFiles(t, dir)
}

// cut kills the client that runs.
func cut(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// The shell continues a job by SIGCONT. That does not mean that the job is over.
func TestOverSignal(t *testing.T) {
	over, continued := make(chan os.Signal, 2), make(chan os.Signal, 1)
	notifyOver(over)
	defer signal.Stop(over)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	<-continued // signals are delivered one after the other
	if err := self.Signal(OverSignal); err != nil {
		t.Fatal(err)
	}
	if got := <-over; got != OverSignal {
		t.Errorf("got %v, want %v only", got, OverSignal)
	}
}

// A connection is lost after silentAfter without a report. The time in which the process was stopped does not count.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSilence()
		defer s.Stop()
		time.Sleep(time.Hour) // nothing reads the ticks, as in a process that is stopped
		began := time.Now()
		for lost := false; !lost; {
			<-s.C
			lost = s.tick()
		}
		if took := time.Since(began); took < silentAfter-2*silentAfter/silenceTicks || took > silentAfter {
			t.Errorf("lost after %v, want %v at most and little less", took, silentAfter)
		}
	})
}

// A tether starts a worker with more arguments than one word of a command holds.
func TestTetherManyArguments(t *testing.T) {
	tether, _, dir := tethered(t, "0", "hello")
	order := tether.Order
	order.Secret = nil
	for i := range 4000 {
		order.Args = append(order.Args, fmt.Sprintf("/data/%s/part-%05d", strings.Repeat("é<", 20), i))
	}
	order.Args = slices.Insert(order.Args, 3, filepath.Join(dir, "client")) // the file that the worker waits for
	call := Call{SSH: tether.SSH, Host: tether.Host, Program: tether.Program, Order: order}
	words, err := call.Words()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], words...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), fmt.Sprintf("and the rest, %d words", len(order.Args)-1)) {
		t.Errorf("%v\n%.2000s", err, out)
	}
	noFiles(t, dir)
}

// A new attempt ends the worker of the one before, which the job has lost.
func TestTetherNextAttempt(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "never")
	tether, out, dir := tethered(t, "0", "first", gate)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := tether.Run(ctx); done <- err }()
	out.until(t, "first")
	if err := os.WriteFile(filepath.Join(dir, "cut"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cut(t, dir)
	out.until(t, "the connection to other is lost")
	stop() // there is no connection by which to end the worker
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "cut")); err != nil {
		t.Fatal(err)
	}
	next := *tether
	next.Order.Attempt, next.Order.Offset, next.Order.Args = 2, 0, []string{"work", "0", "second"}
	if end, err := next.Run(t.Context()); err != nil || end != (End{}) {
		t.Errorf("got %+v, %v\n%s", end, err, out)
	}
	out.until(t, "second attempt 2")
	noFiles(t, dir)
}

func TestTetherEnds(t *testing.T) {
	tether, out, dir := tethered(t, "0", "hello", filepath.Join(t.TempDir(), "never"))
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		for !strings.Contains(out.String(), "hello") && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
		stop()
	}()
	end, err := tether.Run(ctx)
	if want := (End{Code: 143, Signal: 15}); err != nil || end != want {
		t.Errorf("got %+v, %v; want %+v\n%s", end, err, want, out)
	}
	noFiles(t, dir)
}

func TestTetherErrors(t *testing.T) {
	tether, _, dir := tethered(t, "0", "hello")
	tether.Order.Dir = filepath.Join(dir, "nowhere")
	if end, err := tether.Run(t.Context()); err != nil || !strings.Contains(end.Error, "there is no directory "+tether.Order.Dir) {
		t.Errorf("a missing directory: got %+v, %v", end, err)
	}
	noFiles(t, dir)
	tether.SSH = []string{"false"}
	if _, err := tether.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot start a worker on other by false: exit status 1") {
		t.Errorf("a client that fails: got %v", err)
	}
	tether.SSH = []string{"echo"}
	if _, err := tether.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "does the login shell print something?") {
		t.Errorf("another program: got %v", err)
	}
	over := make(chan os.Signal, 1)
	over <- OverSignal
	tether.SSH, tether.Over, tether.Order.Attempt = []string{"false"}, over, 2
	if _, err := tether.Run(t.Context()); !errors.Is(err, ErrOver) {
		t.Errorf("the job has ended: got %v", err)
	}
}

func TestFrontErrors(t *testing.T) {
	for order, want := range map[string]string{
		"":                                  "no order",
		"x\n":                               "the order",
		"{}\n":                              "is not valid",
		`{"run":"../x","attempt":1}`:        "no order",
		`{"run":"../x","attempt":1}` + "\n": "is not valid",
		`{"run":"x","attempt":0}` + "\n":    "is not valid",
	} {
		err := Front(t.Context(), strings.NewReader(order), io.Discard, t.TempDir(), os.Args[0], nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", order, err, want)
		}
	}
	// A directory that others may write in is not used.
	tmp := t.TempDir()
	base := filepath.Join(tmp, keepersIn+strconv.Itoa(os.Geteuid()))
	if err := os.Mkdir(base, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(base, 0o777); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Front(t.Context(), strings.NewReader(`{"run":"x","attempt":1}`+"\n"), &out, tmp, os.Args[0], nil); err != nil || !strings.Contains(out.String(), "not a directory of this user alone") {
		t.Errorf("got %s, %v", &out, err)
	}
}

func TestHosts(t *testing.T) {
	for list, want := range map[string]string{
		"a,b:2":                        "a b b",
		"# two\na slots=2\n\n b # c\n": "a a b",
		"user@a:1":                     "user@a",
		"[::1]:2":                      "::1 ::1",
		"fe80::1":                      "fe80::1",
		"a\r\nb":                       "a b",
		"a # old, slow\nb,c":           "a b c",
		"user@[fe80::1]:2":             "user@fe80::1 user@fe80::1",
		"user@[fe80::1]":               "user@fe80::1",
	} {
		got, err := Hosts(list)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: got %v, %v; want %s", list, got, err, want)
		}
	}
	for list, want := range map[string]string{
		"": "no host", "#x": "no host", "a b": "want HOST", "a:0": "from 1 on", "a:x": "from 1 on", "a slots=": "from 1 on",
		"-oProxyCommand=x": "no name", ":2": "no name", "[-x]:2": "no name", "user@:2": "no name", "#x\na,,b:0": "host 2", "a:5000": "more than 4096",
	} {
		if got, err := Hosts(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v; want %q", list, got, err, want)
		}
	}
}

// TestHostsForms checks that the forms of a list say the same.
func TestHostsForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want, short, long []string
		for range rapid.IntRange(1, 5).Draw(t, "hosts") {
			name, slots := rapid.StringMatching(`[a-z][a-z0-9-]{0,5}`).Draw(t, "host"), rapid.IntRange(1, 4).Draw(t, "slots")
			short, long = append(short, fmt.Sprintf("%s:%d", name, slots)), append(long, fmt.Sprintf("%s slots=%d", name, slots))
			for range slots {
				want = append(want, name)
			}
		}
		for _, text := range []string{strings.Join(short, ","), strings.Join(long, "\n"), strings.Join(short, "\n") + "\n"} {
			got, err := Hosts(text)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Fatalf("%q: %v (-want +got):\n%s", text, err, diff)
			}
		}
	})
}

func FuzzHosts(f *testing.F) {
	for _, list := range []string{"a,b:2", "a slots=3\n#", "[::1]:2", "-x", "a@[::1]:2 # b,c"} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		hosts, err := Hosts(list)
		if (err == nil) != (len(hosts) > 0) || len(hosts) > maxSlots {
			t.Errorf("%q: got %d hosts, %v", list, len(hosts), err)
		}
		for _, host := range hosts {
			if host == "" || host[0] == '-' {
				t.Errorf("%q: the host %q would be an option of ssh", list, host)
			}
		}
	})
}

// TestOrderToEndCrossesTheEnd sends an order to end to a front that has just reported the end of its worker. The front ignores the
// order, waits for the receipt of its report, and removes the files of the worker.
func TestOrderToEndCrossesTheEnd(t *testing.T) {
	dir := t.TempDir()
	order, err := json.Marshal(Order{Run: "r.0", Attempt: 1, Dir: dir, Args: []string{"work", "0", "hello"}, Secret: []byte("a secret of many bytes")})
	if err != nil {
		t.Fatal(err)
	}
	in, toFront := io.Pipe()
	fromFront, out := io.Pipe()
	over := make(chan error, 1)
	go func() {
		err := Front(t.Context(), in, out, dir, os.Args[0], os.Environ())
		over <- errors.Join(err, out.Close())
	}()
	say := func(text string) {
		t.Helper()
		if _, err := io.WriteString(toFront, text); err != nil {
			t.Fatal(err)
		}
	}
	say(string(order) + "\n")
	reports := json.NewDecoder(fromFront)
	for {
		var r Report
		if err := reports.Decode(&r); err != nil || r.Error != "" {
			t.Fatal(err, r.Error)
		}
		if r.Ended != nil {
			break
		}
	}
	say(wordEnd + "\n")
	say(wordDone + "\n")
	if err := <-over; err != nil {
		t.Error(err)
	}
	noFiles(t, dir)
}

// A front waits for the answer of a launcher that is stopped, and then removes the directory of the worker. It ends when
// another front has removed it, when the connection ends, and after answerWithin.
func TestFrontWaitsForALauncherThatIsStopped(t *testing.T) {
	for _, c := range []struct {
		what      string
		then      func(dir string, words chan string)
		took      time.Duration
		directory bool
		late      time.Duration
	}{
		{what: "answer", then: func(_ string, words chan string) { words <- wordDone }, took: time.Hour},
		{what: "other front", then: func(dir string, _ chan string) { _ = os.Remove(dir) }, took: time.Hour, late: reportEvery},
		{what: "end of the connection", then: func(_ string, words chan string) { close(words) }, took: time.Hour, directory: true},
		{what: "silence", then: func(string, chan string) {}, took: answerWithin, directory: true},
	} {
		dir := filepath.Join(t.TempDir(), "worker")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			words := make(chan string)
			var all sync.WaitGroup
			all.Go(func() {
				time.Sleep(time.Hour)
				c.then(dir, words)
			})
			began := time.Now()
			f := front{dir: dir}
			if err := f.finish(t.Context(), words); err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
			if took := time.Since(began); took < c.took || took > c.took+c.late {
				t.Errorf("%s: ended after %v, want %v", c.what, took, c.took)
			}
			all.Wait()
		})
		if _, err := os.Stat(dir); (err == nil) != c.directory {
			t.Errorf("%s: directory exists %t, want %t", c.what, err == nil, c.directory)
		}
	}
}
