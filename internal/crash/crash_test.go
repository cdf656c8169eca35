// SPDX-License-Identifier: Apache-2.0

//go:build unix

package crash

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/sampled"
)

// The test binary is also the program that crashes: a role in the environment selects the kind.
const envRole = "CRASH_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(envRole)
	if role == "" {
		os.Exit(m.Run())
	}
	Abort(false)
	crashes[role]()
	time.Sleep(time.Minute)
}

// crashes are the ways in which a Go program crashes.
var crashes = map[string]func(){
	"nil":     func() { go write(nil) },
	"panic":   func() { go panic("BUG: two\nlines") },
	"error":   func() { panic(errors.New("BUG: an error")) },
	"map":     raceInMap,
	"memory":  fillMemory,
	"stack":   func() { debug.SetMaxStack(1 << 20); println(deeper(0)) },
	"wait":    func() { select {} },
	"SIGQUIT": func() { signalSelf(syscall.SIGQUIT) },
	"SIGABRT": func() { signalSelf(syscall.SIGABRT) },
	"SIGSEGV": func() { signalSelf(syscall.SIGSEGV) },
	"SIGBUS":  func() { signalSelf(syscall.SIGBUS) },
}

func write(p *int) { *p = 1 }

func deeper(n int) int {
	if n < 0 {
		return 0
	}
	return deeper(n+1) + n
}

func signalSelf(sig syscall.Signal) { _ = syscall.Kill(os.Getpid(), sig) }

func raceInMap() {
	m := map[int]int{}
	for range 4 {
		go func() {
			for {
				m[1]++
			}
		}()
	}
}

func fillMemory() {
	limit := syscall.Rlimit{Cur: 2 << 30, Max: 2 << 30}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		panic(err)
	}
	var held [64][]byte
	for i := range held {
		held[i] = make([]byte, 256<<20)
	}
	runtime.KeepAlive(held)
}

// Each kind of crash ends the process by SIGABRT, which cannot be confused with an exit code,
// and Find reduces its trace to its cause.
func TestCrashesEndBySIGABRT(t *testing.T) {
	for role, want := range map[string]struct{ message, frame string }{
		"nil":     {"panic: runtime error: invalid memory address or nil pointer dereference", "crash.write"},
		"panic":   {"panic: BUG: two", "crash.init.func"},
		"error":   {"panic: BUG: an error", "crash.init.func"},
		"map":     {"fatal error: concurrent map", "crash.raceInMap.func1"},
		"memory":  {"fatal error: ", "crash.fillMemory"},
		"stack":   {"fatal error: stack overflow", "crash.deeper"},
		"wait":    {"fatal error: all goroutines are asleep - deadlock!", "crash.init.func"},
		"SIGQUIT": {"SIGQUIT: quit", ""},
		"SIGABRT": {"SIGABRT: abort", ""},
		"SIGSEGV": {"SIGSEGV: segmentation violation", ""},
		"SIGBUS":  {"SIGBUS: bus error", ""},
	} {
		t.Run(role, func(t *testing.T) {
			if role == "memory" && sampled.UnderRace {
				t.Skip("the race detector needs more address space than the limit leaves")
			}
			if role == "wait" && sampled.UnderRace {
				t.Skip("the runtime does not detect a deadlock in a program with cgo, which the race detector is")
			}
			t.Parallel()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), envRole+"="+role)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				t.Fatalf("ended with %v", err)
			}
			ws := exit.Sys().(syscall.WaitStatus)
			if !ws.Signaled() || ws.Signal() != syscall.SIGABRT || ws.CoreDump() {
				t.Errorf("ended by %v, core %v; want SIGABRT without a core\n%s", exit, ws.CoreDump(), out)
			}
			trace, ok := Find(bytes.NewReader(out))
			if !ok || !strings.HasPrefix(trace.Message, want.message) {
				t.Errorf("trace %+v, %v; want %q from:\n%s", trace, ok, want.message, out)
			}
			if text := strings.Join(trace.Frames, "\n"); !strings.Contains(text, want.frame) || strings.Contains(text, "runtime.") {
				t.Errorf("frames %q, want %s and none of the runtime's", text, want.frame)
			}
		})
	}
}

// Lines of a log that look like a crash do not count without a goroutine.
func TestFindTakesNoLogLineForACrash(t *testing.T) {
	trace := "panic: real\n\tpanic: again\n[signal SIGSEGV: x]\n\ngoroutine 7 gp=0x1 m=0 mp=0x2 [running]:\npanic({0x1, 0x2})\n\t/go/panic.go:1 +0x1\nlearn.(*T).run(...)\n\tlearn/run.go:77\ncreated by main.main\n\tmain.go:1 +0x1\n\ngoroutine 8 [running]:\nother(0x1)\n\tother.go:2\n"
	for name, c := range map[string]struct {
		log  string
		want string
	}{
		"nothing":           {"", ""},
		"a line of the log": {"panic: said the teacher\n" + strings.Repeat("loss 0.5\n", 100), ""},
		"log before":        {"fatal error: so it says\n" + strings.Repeat("loss 0.5\n", 100) + trace, "panic: real\n[signal SIGSEGV: x]\n    learn.(*T).run learn/run.go:77"},
		"a crash":           {trace, "panic: real\n[signal SIGSEGV: x]\n    learn.(*T).run learn/run.go:77"},
		"a full disk":       {"panic: real\n\ngoroutine 7 [runn", ""},
		"cut in a frame":    {"panic: real\n\ngoroutine 7 [running]:\nlearn.run(...)\n\tlearn/run.go:77 +0x", "panic: real\n    learn.run learn/run.go:77"},
		"a long line":       {strings.Repeat("x", 3*maxLine) + "\n" + trace, "panic: real\n[signal SIGSEGV: x]\n    learn.(*T).run learn/run.go:77"},
	} {
		got, ok := Find(strings.NewReader(c.log))
		if text := strings.Join(got.Lines(), "\n"); ok != (c.want != "") || ok && text != c.want {
			t.Errorf("%s: %v, %q; want %q", name, ok, text, c.want)
		}
	}
}

// A filter passes all bytes but those of a trace's other goroutines, however
// they are cut into writes, and serves the next process after Reset.
func TestFilterEndsATrace(t *testing.T) {
	const log = "loss 0.5\nloss 0.25\rhalf"
	const first = "panic: real\n\ngoroutine 7 [running]:\nlearn.run(...)\n\tlearn/run.go:77 +0x1\n\n"
	const more = "goroutine 8 [select]:\nother(0x1)\n\tother.go:2\n"
	for size := range 40 {
		size++
		var out bytes.Buffer
		f := Filter{Out: &out, Full: "rank-00.log"}
		for range 2 {
			for p := range slices.Chunk([]byte(log+"\n"+first+more), size) {
				if n, err := f.Write(p); n != len(p) || err != nil {
					t.Fatal(n, err)
				}
			}
			f.Reset()
		}
		want := strings.Repeat(log+"\n"+first+"(all goroutines are in rank-00.log)\n", 2)
		if out.String() != want {
			t.Fatalf("in writes of %d bytes: %q, want %q", size, out.String(), want)
		}
	}
}

// resetting is a writer that resets a filter during a write.
type resetting struct {
	bytes.Buffer
	filter *Filter
}

func (r *resetting) Write(b []byte) (int, error) {
	r.filter.Reset()
	return r.Buffer.Write(b)
}

// A reset does not wait for a write to a slow reader, and ends the trace that was being read.
func TestResetDuringAWrite(t *testing.T) {
	out := &resetting{}
	out.filter = &Filter{Out: out}
	for _, line := range []string{"panic: x\n", "\n", "goroutine 1 [running]:\n", "main.main()\n", "\n", "goroutine 2 [running]:\n"} {
		if _, err := out.filter.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.String(); !strings.HasSuffix(got, "goroutine 2 [running]:\n") {
		t.Errorf("got %q, want all lines", got)
	}
}
