// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// TestFaultsAreNamed gives the learner invalid input and checks what the user sees: the exit
// code, the name of the file, line or flag, and no output file under its final name.
func TestFaultsAreNamed(t *testing.T) {
	t.Parallel()
	good := readFile(t, filepath.Join("testdata", "golden", "reg500.vw.gz"))
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, dir string)
		args    string
		code    int
		says    []string
	}{
		{"unknown flag", nil, "-d good.vw --pases 3 -f m", 1, []string{"--pases", "--passes"}},
		{"unsupported flag", nil, "-d good.vw --active -f m", 1, []string{"--active", "does not have"}},
		{"refused flag", nil, "-d good.vw --cb 3 -f m", 1, []string{"--cb", "use vw"}},
		{"two solvers", nil, "-d good.vw --bfgs --conjugate_gradient --passes 3 -k --cache_file c -f m", 1, []string{"--bfgs", "--conjugate_gradient", "--mem 0"}},
		{"one pass of bfgs", nil, "-d good.vw --bfgs -f m", 1, []string{"--bfgs", "passes"}},
		{"bad number", nil, "-d good.vw -l x -f m", 1, []string{"-l", "x"}},
		{"unknown loss", nil, "-d good.vw --loss_function cubic -f m", 1, []string{"--loss_function", "cubic"}},
		{"cluster without server", nil, "-d good.vw --total 2 --node 0 -f m", 1, []string{"--span_server"}},
		{"missing data", nil, "-d missing.vw -f m", 5, []string{"missing.vw"}},
		{"missing model", nil, "-d good.vw -i missing.model -f m", 5, []string{"missing.model"}},
		{"no place for the model", nil, "-d good.vw -f nowhere/m", 5, []string{"nowhere"}},
		{"no place for predictions", nil, "-d good.vw -p nowhere/p -f m", 5, []string{"nowhere"}},
		{"truncated gzip", func(t *testing.T, dir string) {
			b, err := os.ReadFile(filepath.Join("testdata", "golden", "reg500.vw.gz"))
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(dir, "cut.vw.gz"), string(b[:len(b)/2]))
		}, "-d cut.vw.gz -f m", 2, []string{"cut.vw.gz"}},
		{"no model", func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "bad.model"), "this is no model, whatever its name says")
		}, "-d good.vw -i bad.model -f m", 2, []string{"bad.model"}},
		{"truncated model", func(t *testing.T, dir string) {
			b := trained(t, dir)
			writeFile(t, filepath.Join(dir, "cut.model"), string(b[:len(b)-5]))
		}, "-d good.vw -i cut.model -f m", 2, []string{"cut.model"}},
		{"flipped bit in the model's header", func(t *testing.T, dir string) {
			b := trained(t, dir)
			b[20] ^= 4
			writeFile(t, filepath.Join(dir, "flip.model"), string(b))
		}, "-d good.vw -i flip.model -f m", 2, []string{"flip.model"}},
		{"another bit width", func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "b18.model"), string(trained(t, dir)))
		}, "-d good.vw -b 20 -i b18.model -f m", 1, []string{"b18.model", "18", "20"}},
		{"damaged cache", func(t *testing.T, dir string) {
			gvw(t, dir, "-d", "good.vw", "--passes", "2", "--cache_file", "c", "--quiet")
			path := filepath.Join(dir, "c")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)/2] ^= 1
			writeFile(t, path, string(b))
		}, "-d good.vw --passes 2 --cache_file c -f m", 2, []string{"c", "-k"}},
		{"truncated cache", func(t *testing.T, dir string) {
			gvw(t, dir, "-d", "good.vw", "--passes", "2", "--cache_file", "c", "--quiet")
			path := filepath.Join(dir, "c")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, path, string(b[:len(b)/2]))
		}, "-d good.vw --passes 2 --cache_file c -f m", 2, []string{"c", "-k"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "good.vw"), good)
			if c.prepare != nil {
				c.prepare(t, dir)
			}
			r := run(t, dir, gvwBin, strings.Fields(c.args)...)
			if r.code != c.code {
				t.Errorf("exit code %d, want %d\n%s", r.code, c.code, r.stderr)
			}
			last := tail(r.stderr, 1)
			for _, word := range c.says {
				if !strings.Contains(last, word) {
					t.Errorf("the last line does not name %q: %q", word, last)
				}
			}
			if r.stdout != "" {
				t.Errorf("talk on stdout: %q", r.stdout)
			}
			nothingLeft(t, dir, "m", "p")
		})
	}
}

// trained trains a model on good.vw and returns its bytes.
func trained(t *testing.T, dir string) []byte {
	t.Helper()
	gvw(t, dir, "-d", "good.vw", "-f", "first.model", "--quiet")
	b, err := os.ReadFile(filepath.Join(dir, "first.model"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// nothingLeft checks that a failed run left neither output files nor temporary files.
func nothingLeft(t *testing.T, dir string, outputs ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		for _, out := range outputs {
			if e.Name() == out || strings.HasPrefix(e.Name(), out+".") || strings.HasPrefix(e.Name(), "."+out) {
				t.Errorf("a failed run left %s", e.Name())
			}
		}
	}
}

// TestMalformedLines trains over lines with every fault that the parser reports: the run
// continues as vw's does, and each line is named.
func TestMalformedLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lines := []string{
		"1 |a x:1 y:2", "x |a b", "1 y |a b", "1 |:3 x", "1 |a x:1:2 z", "1 |a x:1abc z",
		"1 |a x:nan", "1 -1 |a x", "1 2 3 4 |a x", "", "-1 |a:nan x", "1 |a x",
	}
	writeFile(t, filepath.Join(dir, "bad.vw"), strings.Join(lines, "\n")+"\n")
	r := gvw(t, dir, "-d", "bad.vw", "-f", "m")
	for i, line := range lines {
		// Line 10 is empty, which is no fault; lines 1 and 12 are well formed.
		fault := i != 0 && i != 9 && i != 11
		named := slices.ContainsFunc(strings.Split(r.stderr, "\n"), func(s string) bool {
			return strings.Contains(s, "bad.vw") && strings.Contains(s, fmt.Sprintf("line=%d", i+1)+" ") ||
				strings.HasSuffix(s, fmt.Sprintf("line=%d", i+1)) || strings.Contains(s, fmt.Sprintf("bad.vw:%d:", i+1))
		})
		if named != fault {
			t.Errorf("line %d %q: warned about: %v, want %v", i+1, line, named, fault)
		}
	}
	if t.Failed() {
		t.Log(r.stderr)
	}
}

// TestDeadPeer kills or stops one of four ranks in the middle of a long job.
// Every survivor names it and exits: when its connections close, or after --lost_after when
// it is only silent.
func TestDeadPeer(t *testing.T) {
	t.Parallel()
	text := readFile(t, filepath.Join("testdata", "golden", "s1000.vw.gz"))
	for _, c := range []struct {
		name      string
		signal    syscall.Signal
		victim    int
		lostAfter string
	}{
		{"killed root", syscall.SIGKILL, 3, longerThanTests},
		{"killed parent", syscall.SIGKILL, 1, longerThanTests},
		{"killed leaf", syscall.SIGKILL, 0, longerThanTests},
		{"stopped parent", sigStop, 1, "10s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			port := startServer(t)
			dir := t.TempDir()
			parts := shards(t, dir, writeFile(t, filepath.Join(dir, "all.vw"), text), 4)
			ps := make([]*process, len(parts))
			for i, part := range parts {
				args := append(clusterArgs(port, 5, i, 4), "-d", part, "-f", fmt.Sprintf("m%d", i), "-k", "--cache_file", fmt.Sprintf("c%d", i),
					"--passes", "100000", "--holdout_off", "--loss_function", "logistic", "--heartbeat", "200ms", "--lost_after", c.lostAfter)
				ps[i] = start(t, dir, gvwBin, args...)
			}
			waitFor(t, "the job to have done three passes", func() bool {
				st, err := client.Status(t.Context(), nil, "127.0.0.1:"+port, nil)
				return err == nil && len(st.Jobs) == 1 && len(st.Jobs[0].Ranks) == 4 &&
					!slices.ContainsFunc(st.Jobs[0].Ranks, func(r protocol.RankStatus) bool { return r.Pass < 3 })
			})
			if err := ps[c.victim].cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			for i, p := range ps {
				if i == c.victim {
					continue
				}
				r := p.wait()
				if r.code != 3 {
					t.Errorf("rank %d: exit code %d, want 3\n%s", i, r.code, tail(r.stderr, 10))
				}
				if last := tail(r.stderr, 1); !strings.Contains(last, fmt.Sprintf("rank %d", c.victim)) {
					t.Errorf("rank %d does not name the lost rank %d: %q", i, c.victim, last)
				}
				nothingLeft(t, dir, fmt.Sprintf("m%d", i))
			}
			// A killed process cannot remove its temporary files, but it must not leave a
			// model.
			if _, err := os.Stat(filepath.Join(dir, fmt.Sprintf("m%d", c.victim))); err == nil {
				t.Errorf("the lost rank %d left a model", c.victim)
			}
		})
	}
}
