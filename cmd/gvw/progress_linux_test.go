// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// screen is the user's end of a pseudo-terminal.
type screen struct {
	t      *testing.T
	master *os.File

	mu   sync.Mutex
	text []byte
	done chan struct{} // closed when all processes have closed the terminal
}

// openScreen opens a pseudo-terminal with some columns, and the end that a program gets.
func openScreen(t *testing.T, columns int) (*screen, *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatal(err)
		}
		t.Skipf("no pseudo-terminals: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, master: master, done: make(chan struct{})}
	s.resize(columns)
	return s, slave
}

// resize changes the number of columns.
func (s *screen) resize(columns int) {
	s.t.Helper()
	if err := unix.IoctlSetWinsize(int(s.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}); err != nil {
		s.t.Fatal(err)
	}
}

// watch reads what programs write until they have closed the terminal, which is an error here.
func (s *screen) watch() {
	defer close(s.done)
	b := make([]byte, 4096)
	for {
		n, err := s.master.Read(b)
		s.mu.Lock()
		s.text = append(s.text, b[:n]...)
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// after returns what was written since a position, and the position of its end.
func (s *screen) after(at int) (string, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.text[at:]), len(s.text)
}

// shows waits until the text from a position on matches, and returns the position of its end.
func (s *screen) shows(at int, want string) (end int) {
	s.t.Helper()
	re := regexp.MustCompile(want)
	defer func() {
		if s.t.Failed() {
			text, _ := s.after(at)
			s.t.Logf("%q", text[max(0, len(text)-500):])
		}
	}()
	eventually(s.t, "the terminal to show "+want, func() bool {
		text, to := s.after(at)
		end = to
		return re.MatchString(text)
	})
	return end
}

// onTerminal starts gvw with its stderr at a terminal, in a folder with x.vw.
func onTerminal(t *testing.T, dir string, columns int, args ...string) (*exec.Cmd, *screen) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "x.vw"), []byte(strings.Repeat("1 |a x y\n-1 |a z\n", 50)), 0o644); err != nil {
		t.Fatal(err)
	}
	s, slave := openScreen(t, columns)
	cmd := exec.Command("gvw", args...)
	cmd.Dir, cmd.Stderr = dir, slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := slave.Close(); err != nil {
		t.Fatal(err)
	}
	go s.watch()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		<-s.done
	})
	return cmd, s
}

// gvw top follows a server: a key shows the ranks of a job, and q ends it and leaves the terminal as it was.
func TestTop(t *testing.T) {
	t.Parallel()
	server, err := server.StartLocal(t.Context(), 0, server.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	m, err := client.Join(t.Context(), client.JoinConfig{
		Server: fmt.Sprintf("127.0.0.1:%d", server.Port), Job: protocol.Job{UniqueID: 7, RunKey: "run"},
		Rank: 1, Total: 3, Advertise: "127.0.0.1:9", StartTimeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s, slave := openScreen(t, 80)
	before, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("gvw", "top", "--span_server_port", strconv.Itoa(server.Port))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.watch()
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	press := func(keys string) {
		if _, err := s.master.WriteString(keys); err != nil {
			t.Fatal(err)
		}
	}
	at := s.shows(0, `\x1b\[\?1049h(?s:.*)> 7/run +filling +1/3`)
	press("\n")
	at = s.shows(at, `RANK +HOST +STATE(?s:.*)1 +\S+ +joined`)
	s.resize(24)
	at = s.shows(at, `  RANK  HOST +S?T?A?T?E?\x1b\[K\r\n`)
	press("\x1b[A\n")
	s.shows(at, `> 7/run`)
	press("q")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	after, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil || *after != *before {
		t.Errorf("the modes of the terminal are %+v, want %+v (%v)", after, before, err)
	}
	if err := slave.Close(); err != nil {
		t.Error(err)
	}
	<-s.done
	if text, _ := s.after(0); !strings.HasSuffix(text, "\x1b[?25h\x1b[?1049l") {
		t.Errorf("the end: %q", text[max(0, len(text)-100):])
	}
	if _, stderr, code := call(t, "top"); code != 1 || !strings.Contains(stderr, "gvw top needs a terminal") {
		t.Errorf("without a terminal: %d, %s", code, stderr)
	}
}

// A signal to all processes of a search, as a terminal sends it, ends the search, and no trial counts as failed.
func TestSearchInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.vw"), []byte(strings.Repeat("1 |a x y\n-1 |a z\n", 50)), 0o644); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("gvw", "search", "--space", "l=0.1..1", "--parallel", "2", "--holdout", "--state", "j", "--", "-d", "x.vw", "--passes", "1000000000", "--early_terminate", "1000000000")
	cmd.Dir, cmd.Stderr, cmd.SysProcAttr = dir, &stderr, &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "two trials", func() bool { return len(children(t, cmd.Process.Pid)) == 2 })
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(stderr.String(), "the same command continues from j") {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	journal, err := os.ReadFile(filepath.Join(dir, "j"))
	if err != nil || bytes.Count(journal, []byte("\n")) != 1 {
		t.Errorf("the journal has trials: %s, %v", journal, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "j.work")); !os.IsNotExist(err) {
		t.Errorf("the folder of the trials is left: %v", err)
	}
}

// interrupt sends Ctrl-C and checks that the terminal has no line of progress afterwards.
func interrupt(t *testing.T, cmd *exec.Cmd, s *screen, bar string) {
	t.Helper()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	<-s.done
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	text, _ := s.after(0)
	erased := strings.LastIndex(text, "\x1b[J")
	if last := regexp.MustCompile(bar).FindAllStringIndex(text, -1); len(last) == 0 || erased < last[len(last)-1][0] {
		t.Errorf("the last line of progress is not removed: %q", text[max(0, len(text)-500):])
	}
	if !strings.HasSuffix(text, "\r\n") || !strings.Contains(text[erased:], "gvw: interrupted") {
		t.Errorf("the end is no line of its own: %q", text[max(0, len(text)-500):])
	}
}

// On a terminal a bar follows the training and the width of the terminal, and Ctrl-C removes it.
func TestProgressBar(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd, s := onTerminal(t, dir, 100, "-d", "x.vw", "--passes", "1000000000", "--holdout_off", "-c", "-k")
	at := s.shows(0, `pass \d+/1000000000   0% \[ +\]  ETA [0-9hms]+  loss [0-9.e-]+  [0-9.]+[kM]/s`)
	s.resize(30)
	at = s.shows(at, `pass \d+/1000000000   0%[^\[]*\x1b\[1A\x1b\[J`)
	s.resize(12)
	s.shows(at, `\x1b\[Jpass \d{1,6}/?\d{0,6}`)
	interrupt(t, cmd, s, `pass \d+`)
}

// gvw run has a line for each rank on a terminal.
func TestRankLinesOnATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd, s := onTerminal(t, dir, 100, "run", "-n", "2", "--", "-d", "x.vw", "--passes", "1000000000", "--holdout_off", "-k", "--cache_file", "c")
	s.shows(0, `rank 0  pass \d+/1000000000   0%[^\r]*loss [^\r]*\r\nrank 1  pass \d+/1000000000`)
	interrupt(t, cmd, s, `rank 1  pass`)
}

// noisy is data on which solvers make many passes: labels that depend little on each feature, and just enough features to determine them.
func noisy() string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for range 20_000 {
		label := 2*r.IntN(2) - 1
		fmt.Fprintf(&b, "%d |a", label)
		for range 8 {
			fmt.Fprintf(&b, " %d:%.3f", r.IntN(6000), r.Float64()+0.1*float64(label))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// The lines of gvw run have all fields for ranks with a solver. The data is read six times, so that the job lasts until
// it is interrupted.
func TestRankLinesOfSolvers(t *testing.T) {
	if sampled.UnderRace {
		t.Skip("left out: TestRankLinesOnATerminal runs under the race detector")
	}
	sampled.NotInCheck(t, os.Getenv)
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "noisy.vw"), []byte(strings.Repeat(noisy(), 6)), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd, s := onTerminal(t, dir, 120, "run", "-n", "2", "--", "-d", "noisy.vw", "--loss_function", "logistic", "--holdout_off", "--hybrid", "2:400", "--termination", "0", "-b", "20", "-k", "--cache_file", "c")
	s.shows(0, `rank 0  pass \d+/402 +\d+% \[=* *\][^\r]*ETA [0-9hms]+  loss [0-9.e-]+  [0-9.]+[kM]?/s  [0-9.]+[kM]? examples  L-BFGS[^\r]*\r\nrank 1  pass \d+/402`)
	interrupt(t, cmd, s, `rank 1  pass`)
}

// Without a terminal, with --quiet and with --progress_bar off there is no line, and the bytes are those of vw's table.
func TestNoProgressBar(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.vw"), []byte(strings.Repeat("1 |a x y\n-1 |a z\n", 50)), 0o644); err != nil {
		t.Fatal(err)
	}
	var texts [][]byte
	for _, more := range [][]string{nil, {"--progress_bar", "off"}, {"--progress_bar", "auto"}} {
		var stderr bytes.Buffer
		cmd := exec.Command("gvw", append([]string{"-d", "x.vw", "--passes", "3", "-c", "-k"}, more...)...)
		cmd.Dir, cmd.Stderr = dir, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%q: %v\n%s", more, err, &stderr)
		}
		texts = append(texts, stderr.Bytes())
		if bytes.ContainsAny(stderr.Bytes(), "\r\x1b") || !bytes.Equal(texts[0], stderr.Bytes()) {
			t.Errorf("%q: %s", more, &stderr)
		}
	}
	passes := "20000"
	if sampled.UnderRace { // under the race detector, where each takes ten times as long
		passes = "2000"
	}
	for _, more := range []string{"--quiet", "--progress_bar=off"} {
		cmd, s := onTerminal(t, t.TempDir(), 80, "-d", "x.vw", "--passes", passes, "--holdout_off", "-c", "-k", more)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		<-s.done
		if text, _ := s.after(0); strings.Contains(text, "\x1b") || more == "--quiet" && text != "" {
			t.Errorf("%s: %q", more, text)
		}
	}
}
