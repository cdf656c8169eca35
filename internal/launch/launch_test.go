// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary acts as worker and as launcher; a variable of the environment has the role.
const envRole = "LAUNCH_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(envRole); role != "" {
		os.Exit(play(strings.Fields(role)))
	}
	os.Exit(m.Run())
}

// play runs the role of a worker and returns its exit code.
func play(role []string) int {
	atoi := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			panic(err)
		}
		return n
	}
	switch role[0] {
	case "exit": // exit CODE MILLISECONDS
		time.Sleep(time.Duration(atoi(role[2])) * time.Millisecond)
		return atoi(role[1])
	case "leave": // leave CODE FILE: exit, and leave a process behind that holds the output open
		child := worker(fmt.Sprintf("left %d %s", os.Getpid(), role[2]))
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			panic(err)
		}
		return atoi(role[1])
	case "left": // left PID FILE: create FILE some time after the launcher has waited for the parent, and exit 2 s later
		for pid := atoi(role[1]); os.Getppid() == pid || exists(pid); {
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(500 * time.Millisecond) // for the launcher to store the time of that end
		if err := os.WriteFile(role[2], nil, 0o600); err != nil {
			panic(err)
		}
		time.Sleep(2 * time.Second)
		return 0
	case "after": // after FILE CODE: exit once FILE exists
		for {
			if _, err := os.Stat(role[1]); err == nil {
				return atoi(role[2])
			}
			time.Sleep(5 * time.Millisecond)
		}
	case "obey": // end at SIGTERM, or when the launcher is gone
		gone := make(chan struct{})
		Watch(os.NewFile(uintptr(atoi(os.Getenv(EnvLifeline))), "launcher"), func() { close(gone) })
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		if len(role) > 1 {
			if err := os.WriteFile(role[1], []byte(strconv.Itoa(os.Getpid())), 0o644); err != nil {
				panic(err)
			}
		}
		select {
		case <-gone:
			return 3
		case <-term:
			return 143
		}
	case "defy": // ignore SIGTERM
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("defying")
		time.Sleep(time.Minute)
		return 0
	case "heal": // heal ATTEMPT CODE: exit with CODE until the attempt
		attempt := atoi(os.Getenv(EnvAttempt))
		if attempt >= atoi(role[1]) {
			return 0
		}
		return atoi(role[2])
	case "heal-die": // exit in the first attempt, be killed in the second
		if os.Getenv(EnvAttempt) == "1" {
			return 3
		}
		return play([]string{"die"})
	case "hang": // hang in the first attempt
		if os.Getenv(EnvAttempt) == "1" {
			stopSelf()
		}
		return 0
	case "hang-wait": // hang in the first attempt, and then wait for a signal
		code := play([]string{"hang"})
		time.Sleep(time.Minute)
		return code
	case "relaunch": // a launcher whose worker obeys from its second attempt on
		w := worker("heal-obey " + role[1])
		_, _, err := (Job{Restarts: 1}).Run(context.Background(), []*exec.Cmd{w})
		if err != nil {
			panic(err)
		}
		return 0
	case "heal-obey":
		if os.Getenv(EnvAttempt) == "1" {
			return 3
		}
		return play([]string{"obey", role[1]})
	case "die":
		p, err := os.FindProcess(os.Getpid())
		if err != nil {
			panic(err)
		}
		if err := p.Kill(); err != nil {
			panic(err)
		}
		time.Sleep(time.Minute)
		return 0
	case "launch": // a launcher of workers that note their pids in a folder
		var cmds []*exec.Cmd
		for i := range 3 {
			cmds = append(cmds, worker("obey "+filepath.Join(role[1], strconv.Itoa(i))))
		}
		if _, _, err := (Job{}).Run(context.Background(), cmds); err != nil {
			panic(err)
		}
		return 0
	}
	panic("BUG: no such role: " + role[0])
}

func worker(role string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envRole+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

func workers(roles ...string) []*exec.Cmd {
	cmds := make([]*exec.Cmd, len(roles))
	for i, r := range roles {
		cmds[i] = worker(r)
	}
	return cmds
}

var symptoms = func(code int) bool { return code == 3 }

func TestAllDone(t *testing.T) {
	results, root, err := Job{}.Run(t.Context(), workers("exit 0 0", "exit 0 20"))
	if err != nil || root != -1 {
		t.Fatalf("root %d, error %v", root, err)
	}
	for rank, r := range results {
		if r.Rank != rank || r.failed() || r.Ended {
			t.Errorf("rank %d: %+v", rank, r)
		}
	}
}

// The first failure is the cause. The other workers are ended at once.
func TestFirstFailureIsTheCause(t *testing.T) {
	results, root, err := Job{}.Run(t.Context(), workers("obey", "exit 0 0", "exit 2 100", "obey"))
	if err != nil {
		t.Fatal(err)
	}
	if root != 2 || results[2].Code != 2 {
		t.Errorf("root %d with %+v, want rank 2 with code 2", root, results[2])
	}
	for _, rank := range []int{0, 3} {
		if r := results[rank]; !r.Ended || r.Code != 143 {
			t.Errorf("rank %d: %+v, want it ended", rank, r)
		}
	}
}

// The end of a worker that lost a peer may be observed before the end of the peer.
func TestSymptomsWaitForTheirCause(t *testing.T) {
	results, root, err := Job{Symptom: symptoms, Settle: time.Minute}.Run(t.Context(), workers("exit 3 0", "exit 3 50", "exit 5 300"))
	if err != nil {
		t.Fatal(err)
	}
	if root != 2 || results[2].Code != 5 {
		t.Errorf("root %d, want rank 2: %+v", root, results)
	}
}

func TestSymptomWithoutOtherFailureIsTheCause(t *testing.T) {
	_, root, err := Job{Symptom: symptoms, Settle: 50 * time.Millisecond}.Run(t.Context(), workers("obey", "exit 3 0"))
	if err != nil || root != 1 {
		t.Errorf("root %d, want 1; %v", root, err)
	}
}

func TestKilledWorkerIsNamed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals on windows")
	}
	results, root, err := Job{Symptom: symptoms}.Run(t.Context(), workers("obey", "die"))
	if err != nil || root != 1 {
		t.Fatalf("root %d, want 1; %v", root, err)
	}
	if r := results[1]; r.Signal != syscall.SIGKILL || r.Code != 137 || r.Ended {
		t.Errorf("%+v, want killed", r)
	}
}

func TestProcessThatCannotStartIsTheCause(t *testing.T) {
	cmds := workers("obey", "obey")
	cmds[1].Path = filepath.Join(t.TempDir(), "none")
	results, root, err := Job{}.Run(t.Context(), cmds)
	if err != nil || root != 1 || results[1].Err == nil {
		t.Errorf("root %d, %+v; %v", root, results, err)
	}
}

// A worker that ignores the signal is killed after the grace period.
func TestDefiantWorkerIsKilled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM on windows")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cmds := workers("defy")
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmds[0].Stdout = in
	go func() {
		// It ignores SIGTERM before it prints its first word.
		buf := make([]byte, 16)
		_, _ = out.Read(buf)
		cancel(errors.New("enough"))
	}()
	results, root, err := Job{Grace: 100 * time.Millisecond}.Run(ctx, cmds)
	in.Close()
	if err != nil || root != -1 {
		t.Errorf("root %d, %v", root, err)
	}
	if r := results[0]; r.Signal != syscall.SIGKILL || !r.Ended {
		t.Errorf("%+v, want it killed by the launcher", r)
	}
}

// A launcher that has to end kills its workers, and starts no others.
func TestKillAtTheEndOfTheLauncher(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals on windows")
	}
	var kill func()
	var signal os.Signal
	results, _, err := Job{
		Restarts: 1, AtKill: func(f func()) { kill = f },
		Again: func(r Result) bool { return r.Rank == 0 }, Without: func(Result) bool { return true },
		Died: func(r Result) {
			if r.Rank == 1 {
				signal = r.Signal
			}
			kill()
		},
	}.Run(t.Context(), workers("exit 5 0", "defy"))
	if err != nil || signal != syscall.SIGKILL {
		t.Errorf("rank 1 ended by %v, want SIGKILL; %v", signal, err)
	}
	if r := results[0]; r.Attempt != 2 || !errors.Is(r.Err, errKilled) {
		t.Errorf("rank 0: %+v, want that attempt 2 did not start", r)
	}
}

func wait(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatalf("waited a minute for %s", what)
}

func TestWatch(t *testing.T) {
	r, w := io.Pipe()
	called := false
	done := Watch(r, func() { called = true })
	select {
	case <-done:
		t.Fatal("it ended before the pipe did")
	case <-time.After(10 * time.Millisecond):
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	<-done
	if !called {
		t.Error("gone was not called")
	}
}

// fixed is a source that knows the place.
type fixed Place

func (f fixed) Place(func(string) (string, bool)) (Place, bool, error) { return Place(f), true, nil }

func TestDetect(t *testing.T) {
	batch := fixed{Rank: 1, Total: 4, From: "the batch system"}
	for name, c := range map[string]struct {
		sources []Source
		want    Place
		ok      bool
		says    string
	}{
		"nobody knows":  {[]Source{Flags{}}, Place{}, false, ""},
		"flags":         {[]Source{Flags{true, 2, 3, "the options"}}, Place{2, 3, "the options"}, true, ""},
		"both agree":    {[]Source{Flags{true, 1, 4, "the options"}, batch}, Place{1, 4, "the options"}, true, ""},
		"environment":   {[]Source{Flags{}, batch}, Place(batch), true, ""},
		"they disagree": {[]Source{Flags{true, 0, 4, "the options"}, batch}, Place{}, false, "the batch system"},
		"out of range":  {[]Source{Flags{true, 4, 4, "the options"}}, Place{}, false, "want 0 to total-1"},
	} {
		got, ok, err := Detect(os.LookupEnv, c.sources...)
		if got != c.want || ok != c.ok || (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v, %v, %v", name, got, ok, err)
		}
	}
}
