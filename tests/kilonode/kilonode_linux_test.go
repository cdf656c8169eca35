// SPDX-License-Identifier: Apache-2.0

package kilonode

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/optim/optimtest"
	"github.com/gvw-project/gvw/tests/harness"
)

// bin is the directory of the programs.
var bin string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gvw-kilonode-")
	if err == nil {
		bin, err = harness.Programs(context.Background(), os.Getenv(harness.EnvPrograms), dir, "gvw", "spanning_tree")
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, "kilonode:", err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// number returns a variable's number.
func number(t *testing.T, name string, def int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return def
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s is no positive number", name, text)
	}
	return n
}

const (
	features    = 40 // of the data, with the constant
	perRank     = 20 // examples
	constantKey = 11650396
)

// plant writes a part of the examples for each rank and returns the least objective, and a
// function that returns that of a model.
func plant(t *testing.T, dir string, ranks, size int) (least float64, value func(readable string) float64) {
	t.Helper()
	points := optimtest.RandomPoints(7, ranks*perRank, features, optimtest.Sign)
	var text bytes.Buffer
	for rank := range ranks {
		text.Reset()
		for k := rank * perRank; k < (rank+1)*perRank; k++ {
			p := &points[k]
			p.Weight = 1
			fmt.Fprintf(&text, "%g |", p.Label)
			for i, feature := range p.Index {
				if feature != features-1 { // gvw adds the constant
					fmt.Fprintf(&text, " %d:%g", feature, p.Value[i])
				}
			}
			text.WriteByte('\n')
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("part.%d", rank)), text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &optimtest.Problem{Points: points, Loss: optimtest.Logistic, Lambda: slices.Repeat([]float64{1}, features)}
	best, err := p.Newton()
	if err != nil {
		t.Fatal(err)
	}
	least, _ = p.Value(best, nil)
	return least, func(readable string) float64 {
		x := make([]float64, features)
		for line := range strings.Lines(readable) {
			var key int
			var w float64
			if n, _ := fmt.Sscanf(line, "%d:%g", &key, &w); n != 2 {
				continue
			}
			switch {
			case key == constantKey&(1<<size-1):
				x[features-1] = w
			case key < features-1:
				x[key] = w
			}
		}
		f, _ := p.Value(x, nil)
		return f
	}
}

func TestKilonode(t *testing.T) {
	ranks, size := number(t, "KILONODE_RANKS", 250), number(t, "KILONODE_BITS", 12)
	dir := t.TempDir()
	least, value := plant(t, dir, ranks, size)
	srv := startServer(t)

	began := time.Now()
	j := startJob(t, srv, dir, 1, ranks, strconv.Itoa(size))
	started := time.Now()
	wired := j.wired()
	sockets, private := atRest(t, j, maxSockets(ranks, size))
	rested := time.Now()
	model := j.wait()
	took := time.Since(rested)
	peak, cpu := srv.uses(t)
	t.Logf("%d ranks at -b %d: started in %.1f s, wired %.2f s after the last start, trained in %.1f s", ranks, size, started.Sub(began).Seconds(), wired.Sub(started).Seconds(), took.Seconds())
	t.Logf("taken for lost: %d ranks", j.givenUp)
	t.Logf("a rank at rest: at most %d sockets, %.1f MiB of its own", sockets, float64(private)/(1<<20))
	t.Logf("the server: %.1f MiB at most, %.2f s of CPU", float64(peak)/(1<<20), cpu.Seconds())
	if most := maxSockets(ranks, size); sockets > most {
		t.Errorf("a rank at rest has %d sockets, want at most %d", sockets, most)
	}
	if private > 16<<20 {
		t.Errorf("a rank at rest has %d bytes of its own, want at most 16 MiB", private)
	}
	if peak > 64<<20 {
		t.Errorf("the server has had %d bytes, want at most 64 MiB", peak)
	}
	// Each rank sends heartbeats while the job runs, and each costs the server some tens of microseconds.
	if limit := max(5*time.Second, time.Duration(ranks)*(rested.Sub(began)+took)/20_000); cpu > limit {
		t.Errorf("the server has used %v of CPU, want at most %v", cpu, limit)
	}
	cmd := exec.Command(filepath.Join(bin, "gvw"), "-i", "model.0", "-t", "-d", os.DevNull, "--quiet", "--readable_model", "readable")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	readable, err := os.ReadFile(filepath.Join(dir, "readable"))
	if err != nil {
		t.Fatal(err)
	}
	got := value(string(readable))
	t.Logf("objective %.6f, the least is %.6f", got, least)
	if math.Abs(got-least) > 1e-4*least {
		t.Errorf("the objective is %v, want %v within 1e-4", got, least)
	}

	rng := rand.New(rand.NewPCG(1, 22))
	for i, kill := range []func(j *job){
		func(j *job) {
			kills := max(1, ranks/50)
			for range kills {
				time.Sleep(time.Duration(rng.Int64N(int64(took) / 2 / int64(kills))))
				j.kill(rng.IntN(ranks))
			}
		},
		func(j *job) {
			time.Sleep(took / 8)
			rack := make([]int, ranks/10)
			for k := range rack {
				rack[k] = ranks/2 + k
			}
			j.kill(rack...)
		},
	} {
		id := i + 2
		j := startJob(t, srv, dir, id, ranks, strconv.Itoa(size))
		j.wired()
		began := time.Now()
		kill(j)
		got := j.wait()
		t.Logf("job %d: %d processes killed, %d taken for lost, trained in %.1f s", id, j.restart, j.givenUp, time.Since(began).Seconds())
		if j.restart == 0 {
			t.Errorf("job %d: no process was killed", id)
		}
		if !bytes.Equal(got, model) {
			t.Errorf("job %d made another model", id)
		}
	}
}

// atRest stops the last rank, and returns the most that any of some ranks uses when all wait for it. It waits until no rank
// has more than most sockets, but not for long.
func atRest(t *testing.T, j *job, most int) (sockets, private int) {
	t.Helper()
	last := j.ranks[j.total-1].Process
	if err := last.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// Connections of the handshakes may still be open. A rank is lost after 10 s or more.
	harness.Until(3*time.Second, 100*time.Millisecond, func() bool {
		sockets, private = 0, 0
		for rank := 0; rank < j.total-1; rank += max(1, j.total/50) {
			u := usageOf(j.ranks[rank].Process.Pid)
			sockets, private = max(sockets, u.sockets), max(private, u.private)
		}
		return sockets <= most
	})
	if err := last.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	return sockets, private
}

// maxSockets is the most sockets of a rank: its connection to the server, its listener, and one for each rank that it
// reaches by the tree or by halving. Where the number of ranks is no power of two, a rank has two partners for
// some halves: 250 ranks have up to 14 such ranks. A rank has the edges of halving only after the first long sum. The goal
// is 5 of any job.
func maxSockets(ranks, size int) (most int) {
	for rank := range ranks {
		peers := map[int]bool{}
		for _, name := range []schedule.Name{schedule.BinaryTree, schedule.Halving} {
			for _, peer := range (schedule.Spec{Size: ranks, Elem: 4, Bytes: 4 << size, Schedule: name}).AllReduce(rank).Peers {
				peers[peer] = true
			}
		}
		most = max(most, 2+len(peers))
	}
	return most
}
