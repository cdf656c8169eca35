// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// daemonData returns examples with tags, whose labels depend on their words.
func daemonData(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d 'e%d|a x%d y%d:0.5 |b z%d\n", 1-2*(i%3%2), i, i%7, i%5, i*i%11)
	}
	return b.String()
}

// startDaemon starts a daemon in the foreground and returns its port. words are the program and its first
// arguments.
func startDaemon(t *testing.T, dir string, words []string, options ...string) (p *process, port string) {
	t.Helper()
	file := filepath.Join(dir, "port")
	_ = os.Remove(file) // of a daemon before
	args := append(append([]string{}, words[1:]...), "--daemon", "--foreground", "--port", "0", "--port_file", "port")
	p = start(t, dir, words[0], append(args, options...)...)
	waitFor(t, "the daemon to listen", func() bool {
		b, _ := os.ReadFile(file)
		port = strings.TrimSpace(string(b))
		return strings.HasSuffix(string(b), "\n")
	})
	return p, port
}

// talkDaemon sends text as a client does, and returns the answers.
func talkDaemon(t *testing.T, port, text string) string {
	t.Helper()
	nc, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := nc.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(nc, text); err != nil {
		t.Fatal(err)
	}
	if err := nc.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(nc)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// endDaemon ends a daemon by SIGTERM, after which it exits with code 0, as vw's does.
func endDaemon(t *testing.T, p *process) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.wait().ends(t, "the daemon", 0)
}

// The daemon answers clients as the real vw's does: predictions, tags, empty and malformed lines,
// commands, and training. Both save models from which gvw predicts the same.
func TestDaemonAgainstVW(t *testing.T) {
	vw := append(realVW(t), "-d", os.DevNull) // without -d vw's Python package reads no clients
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "train"), daemonData(200))
	gvw(t, dir, "-d", "train", "-f", "m", "-q", "ab", "--quiet").ends(t, "training", 0)
	odd := "|a x1\n\n'tag|a x2\n1 1.0 tag2|a x3\n|a x1:foo:2 z|:3 x\ngarbage\n1 2 3 4 5 |a x1\nabc\n1\n1 2\n \n|\n|a x1\r\n" +
		"'save_by.NAME|\nsave_x |a x1\n'last|b z1"
	for _, c := range []struct {
		name    string
		options []string
		clients []string
	}{
		{"test", []string{"-i", "m", "-t"}, []string{odd, daemonData(100), ""}},
		{"train", []string{"-q", "ab", "-l", "0.3"}, []string{daemonData(100), "|a x1\n'save_by.NAME|\n" + odd, daemonData(50)}},
		{"logistic", []string{"--loss_function", "logistic", "--link", "logistic"}, []string{daemonData(100), odd}},
		{"classes", []string{"--oaa", "3", "--probabilities", "--loss_function", "logistic"}, []string{strings.ReplaceAll(daemonData(60), "-1 ", "3 "), "|a x1\nsave_by.NAME|\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			answers := map[string]string{}
			for by, words := range map[string][]string{"vw": vw, "gvw": {gvwBin}} {
				p, port := startDaemon(t, dir, words, append(c.options, "--num_children", "1", "-f", "final."+by)...)
				for _, text := range c.clients {
					answers[by] += talkDaemon(t, port, strings.ReplaceAll(text, "NAME", by)) + "--\n"
				}
				endDaemon(t, p)
				for _, model := range []string{"by." + by, "final." + by} {
					if c.name == "test" && model == "final.gvw" {
						continue // nothing is learned, and the model is that of -i
					}
					if _, err := os.Stat(filepath.Join(dir, model)); err != nil && strings.Contains(strings.Join(c.clients, ""), "save_by") {
						t.Error(err)
					}
				}
			}
			sameAnswers(t, answers["vw"], answers["gvw"])
			if c.name == "test" {
				return // vw's model after a test has other floats than its header announces
			}
			for _, by := range []string{"vw", "gvw"} {
				writeFile(t, filepath.Join(dir, "test"), "|a x1 |b z1\n|a x2\n")
				gvw(t, dir, "-d", "test", "-t", "-i", "by."+by, "-p", "p."+by, "--quiet").ends(t, "a model of "+by, 0)
			}
			sameAnswers(t, readFile(t, filepath.Join(dir, "p.vw")), readFile(t, filepath.Join(dir, "p.gvw")))
		})
	}
}

// sameAnswers compares answers word by word, and numbers to 1e-4.
func sameAnswers(t *testing.T, want, got string) {
	t.Helper()
	w, g := strings.Fields(want), strings.Fields(got)
	if len(w) != len(g) {
		t.Fatalf("answers (-vw +gvw):\n%s", cmp.Diff(want, got))
	}
	for i := range w {
		for k, word := range strings.Split(w[i], ":") {
			mine := append(strings.Split(g[i], ":"), "")[k]
			x, err1 := strconv.ParseFloat(word, 64)
			y, err2 := strconv.ParseFloat(mine, 64)
			if word != mine && (err1 != nil || err2 != nil || !near(y, x, 1e-4)) {
				t.Errorf("word %d is %q, want vw's %q", i, g[i], w[i])
			}
		}
	}
}

// Without --foreground the command returns when the daemon listens. --port and --pid_file imply
// the daemon, as in vw. SIGTERM loses nothing that was answered.
func TestDaemonInBackground(t *testing.T) {
	dir := t.TempDir()
	gvw(t, dir, "--port", "0", "--port_file", "port", "--pid_file", "pid", "-f", "m", "--quiet").ends(t, "the command", 0)
	port, pid := strings.TrimSpace(readFile(t, filepath.Join(dir, "port"))), readFile(t, filepath.Join(dir, "pid"))
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	if err != nil {
		t.Fatal(err)
	}
	talkDaemon(t, port, daemonData(30))
	server, err := os.FindProcess(n)
	if err == nil {
		err = server.Signal(syscall.SIGTERM)
	}
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the daemon to end", func() bool { return errors.Is(server.Signal(syscall.Signal(0)), os.ErrProcessDone) || !alive(n) })
	gvw(t, dir, "-d", writeFile(t, filepath.Join(dir, "train"), daemonData(30)), "-f", "whole", "--quiet").ends(t, "training", 0)
	if diff := cmp.Diff(modelWeights(t, dir, "whole"), modelWeights(t, dir, "m")); diff != "" {
		t.Errorf("weights (-run +daemon):\n%s", diff)
	}
	run(t, dir, gvwBin, "--daemon", "--port", "1", "-i", "none").ends(t, "a daemon without a model", 5, "none")
}

// alive reports whether a process runs, and is no zombie.
func alive(pid int) bool {
	f := statOf(pid)
	return len(f) > 0 && f[0] != "Z"
}

// modelWeights returns the text of a model's weights.
func modelWeights(t *testing.T, dir, name string) string {
	t.Helper()
	text := name + ".txt"
	gvw(t, dir, "convert", name, text, "--to", "text", "--predict_only").ends(t, "converting "+name, 0)
	_, w, _ := strings.Cut(readFile(t, filepath.Join(dir, text)), "\n:0\n")
	return w
}

// After kill -9 the checkpoint lacks at most --checkpoint_every examples, and --resume continues
// from it.
func TestDaemonCheckpointAfterKill(t *testing.T) {
	dir := t.TempDir()
	options := []string{"--checkpoint", "state", "--checkpoint_every", "50", "--checkpoint_interval", "1h", "--resume"}
	p, port := startDaemon(t, dir, []string{gvwBin}, options...)
	all := strings.SplitAfter(daemonData(500), "\n")
	sent := 0
	for i := 0; i < 400; i += 20 {
		talkDaemon(t, port, strings.Join(all[i:i+20], ""))
		sent += 20
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait()
	_, port2 := startDaemon(t, dir, []string{gvwBin}, append(options, "-f", "unused")...)
	want := talkDaemon(t, port2, "|a x1\n")
	// The state is that after some number of examples, between sent-50 and sent.
	for n := sent - 50; n <= sent; n++ {
		writeFile(t, filepath.Join(dir, "part"), strings.Join(all[:n], "")+"|a x1\n")
		gvw(t, dir, "-d", "part", "-p", "p", "--quiet").ends(t, "a run", 0)
		lines := strings.Split(strings.TrimSpace(readFile(t, filepath.Join(dir, "p"))), "\n")
		if lines[len(lines)-1]+"\n" == want {
			return
		}
	}
	t.Errorf("no model of %d to %d examples predicts %q", sent-50, sent, want)
}

// The commands of docs/serving.md do what the page says, and its client in Python gets its answers.
func TestServingPage(t *testing.T) {
	python := realVW(t)[0]
	p := openPage(t, "serving.md")
	_, client, _ := strings.Cut(p.text, "```python\n")
	client, _, _ = strings.Cut(client, "```")
	for _, line := range p.commands() {
		p.shell(t, line)
		if strings.Contains(line, "--daemon") {
			got := startWith(t, p.dir, nil, nil, python, "-c", client).wait()
			if got.code != 0 || strings.Count(got.stdout, "\n") < 2 || !strings.Contains(got.stdout, " first\n") || !strings.Contains(got.stdout, " second\n") {
				t.Errorf("%s: the client prints %q\n%s", line, got.stdout, got.stderr)
			}
			file := "pid"
			if strings.Contains(line, "pid2") {
				file = "pid2"
			}
			n, err := strconv.Atoi(strings.TrimSpace(readFile(t, filepath.Join(p.dir, file))))
			if err != nil {
				t.Fatal(err)
			}
			p.shell(t, "kill $(cat "+file+")")
			waitFor(t, "the daemon to end", func() bool { return !alive(n) })
		}
	}
}

// Options that would have no effect are refused, each by its name.
func TestDaemonRefusals(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ options, word string }{
		{"-p out", "--predictions"},
		{"--passes 3", "--passes"},
		{"--bfgs", "--bfgs"},
		{"--lda 5", "--lda"},
		{"--csv", "text or JSON"},
		{"--checkpoint_every 3", "--checkpoint"},
		{"-t --checkpoint c", "--testonly"},
		{"--cache_file c", "--cache_file"},
	} {
		run(t, dir, gvwBin, append([]string{"--daemon", "--foreground", "--port", "0"}, strings.Fields(c.options)...)...).ends(t, c.options, 1, c.word)
	}
	run(t, dir, gvwBin, "-d", os.DevNull, "--checkpoint_interval", "3s").ends(t, "no daemon", 1, "--checkpoint_interval")
}

// A server that learns and fails to start leaves the model of -f and the checkpoint as they are.
func TestServersThatDoNotStartKeepTheModel(t *testing.T) {
	dir := t.TempDir()
	files := []string{"m", "state"}
	for _, name := range files {
		writeFile(t, filepath.Join(dir, name), "the model of an earlier server")
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ options, word string }{
		{"--daemon --foreground --bind 127.0.0.1 --port " + port, "cannot listen"},
		{"--daemon --bind 127.0.0.1 --port " + port, "cannot listen"},
		{"--daemon --foreground --bind 127.0.0.1 --port 0 --pid_file none/pid", "--pid_file"},
		{"serve --learn --port " + port, "cannot listen"},
		{"serve --learn --port 0 --port_file none/port", "--port_file"},
	} {
		args := append(strings.Fields(c.options), "-b", "10", "-f", "m", "--checkpoint", "state")
		if r := run(t, dir, gvwBin, args...); r.code == 0 || !strings.Contains(r.stderr, c.word) {
			t.Errorf("%s: code %d, stderr:\n%s\nwant an error with %q", c.options, r.code, r.stderr, c.word)
		}
		for _, name := range files {
			if got := readFile(t, filepath.Join(dir, name)); got != "the model of an earlier server" {
				t.Errorf("%s: %s has been replaced by %d bytes", c.options, name, len(got))
			}
		}
	}
}
