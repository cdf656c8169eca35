// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce"
)

const envTask = "COLLECTIVE_TEST_RANK"

// TestMain lets the test binary act as a rank: the task is its last argument.
func TestMain(m *testing.M) {
	if os.Getenv(envTask) != "" {
		if err := Serve(context.Background(), os.Args[len(os.Args)-1], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// tiny returns a configuration whose measurement takes almost no time.
func tiny() Config {
	return Config{Ranks: 3, Sizes: []int{4, 1000}, Rounds: 2, PerSize: time.Millisecond, Transport: "mem"}
}

// Every size has a figure from all rounds, and its best is not above its median. A machine
// without an RDMA device returns an error for verbs; the guest of tests/rdma has two devices.
func TestFiguresAreComplete(t *testing.T) {
	for _, transport := range Transports {
		t.Run(transport, func(t *testing.T) {
			cfg := tiny()
			cfg.Transport = transport
			if transport != "mem" {
				t.Setenv(envTask, "1")
				cfg.Self = []string{os.Args[0]}
			}
			cfg.Schedules = []string{"auto", "ring"}
			r, err := Run(t.Context(), cfg)
			if transport == "verbs" && err != nil && strings.Contains(err.Error(), "transport verbs: ") {
				return // without a device, TCP must not be measured instead
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, want := len(r.Figures), len(cfg.Sizes)*len(cfg.Schedules); got != want {
				t.Fatalf("%d figures, want %d", got, want)
			}
			for i, f := range r.Figures {
				want := Figure{
					System: "gvw", N: 3, Transport: transport, Schedule: cfg.Schedules[i/len(cfg.Sizes)], Bytes: cfg.Sizes[i%len(cfg.Sizes)],
					Calls: f.Calls, MedianUS: f.MedianUS, BestUS: f.BestUS, CPUUS: f.CPUUS,
				}
				if diff := cmp.Diff(want, f); diff != "" {
					t.Error(diff)
				}
				if f.Calls < cfg.Rounds*minBatches || f.BestUS <= 0 || f.MedianUS < f.BestUS {
					t.Errorf("figures that cannot be: %+v", f)
				}
			}
		})
	}
}

// A rank that fails makes the measurement fail, with the rank's number and its error.
func TestAFailingRankIsNamed(t *testing.T) {
	cfg := tiny()
	cfg.Transport = "tcp"
	cfg.Self = []string{"sh", "-c", "echo no luck today >&2; exit 7"}
	_, err := Run(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "failed first, exit code 7: no luck today") {
		t.Errorf("got %v", err)
	}
}

// wrongGroup adds a bit to one element of one rank's result.
type wrongGroup struct {
	rank, size int
	spoil      int // index of the element; -1: none
}

func (g *wrongGroup) Rank() int                     { return g.rank }
func (g *wrongGroup) Size() int                     { return g.size }
func (g *wrongGroup) Barrier(context.Context) error { return nil }

func (g *wrongGroup) AllReduce(_ context.Context, v allreduce.Vector, _ allreduce.Op) error {
	if g.spoil >= 0 && v.Len() > g.spoil {
		return errSpoilt
	}
	return nil
}

var errSpoilt = errors.New("spoilt")

// The expected answer is the sum of the contributions, and every wrong element is found.
func TestWrongSumsAreFound(t *testing.T) {
	for _, n := range []int{2, 3, 8, 4096} {
		v := make([]float32, 3000)
		for rank := range n {
			for i := range v {
				v[i] += contribution(i, rank)
			}
		}
		if i := wrongAt(v, n); i >= 0 {
			t.Fatalf("n=%d: element %d is %v, exact is %v", n, i, v[i], exact(i, n))
		}
		for _, i := range []int{0, 1499, 2999} {
			v[i]++
			if got := wrongAt(v, n); got != i {
				t.Errorf("n=%d: element %d is wrong, found %d", n, i, got)
			}
			v[i]--
		}
	}
	// A group that does nothing returns to every rank its own vector.
	m := meter{group: &wrongGroup{rank: 1, size: 3, spoil: -1}}
	if err := m.check(t.Context(), make([]float32, 8)); err == nil || !strings.Contains(err.Error(), "element 0: got 1, want 3") {
		t.Errorf("got %v", err)
	}
	m.group = &wrongGroup{rank: 1, size: 3, spoil: 0}
	if err := m.check(t.Context(), make([]float32, 8)); !errors.Is(err, errSpoilt) {
		t.Errorf("got %v", err)
	}
}

func TestValidateReportsAllFaults(t *testing.T) {
	err := Config{Ranks: 1, Transport: "pigeon", Sizes: []int{6}, Schedules: []string{"none"}, Rounds: -1, PerSize: -1}.Validate()
	if err == nil {
		t.Fatal("no fault found")
	}
	for _, word := range []string{"Ranks", "Transport", "Sizes", "Schedules", "Rounds", "PerSize", "Self"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s is not in %q", word, err)
		}
	}
	if err := tiny().Validate(); err != nil {
		t.Error(err)
	}
	peers := tiny()
	peers.Peers = true
	if err := peers.Validate(); err == nil {
		t.Error("peers over mem: no fault found")
	}
}

// Batches that rank 0 reports are parsed, impossible ones are refused, and other lines are
// skipped.
func TestParseBatches(t *testing.T) {
	got, err := parseBatches([]byte("[12:00] connected\n{\"bytes\":4,\"calls\":2,\"us\":1.5,\"cpu_us\":3}\n"))
	if diff := cmp.Diff([]Batch{{4, 2, 1.5, 3}}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for _, bad := range []string{"{", `{"bytes":4}`, `{"bytes":4,"calls":1,"us":-1}`} {
		if _, err := parseBatches([]byte(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// The table has our times, the ratio of the best schedule to each peer, and the absent peers.
func TestTheTable(t *testing.T) {
	r := Result{
		Config: Config{Ranks: 4, Transport: "tcp", Sizes: []int{4, 1 << 20}, Rounds: 3, Peers: true},
		Figures: []Figure{
			{System: "gvw", Schedule: "tree", Bytes: 4, MedianUS: 20, BestUS: 10, CPUUS: 40},
			{System: "gvw", Schedule: "tree", Bytes: 1 << 20, MedianUS: 900, BestUS: 800, CPUUS: 1700},
			{System: "gvw", Schedule: "ring", Bytes: 4, MedianUS: 30, BestUS: 29, CPUUS: 60},
			{System: "gvw", Schedule: "ring", Bytes: 1 << 20, MedianUS: 800, BestUS: 700, CPUUS: 1500},
			{System: "vw", Bytes: 1 << 20, MedianUS: 16000, BestUS: 15000, CPUUS: 1500},
		},
		Absent: []Absent{{"mpich", "not installed"}},
	}
	var b bytes.Buffer
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	want := `4 ranks over tcp, checksum on, 3 rounds: all-reduce, sum of float32, in place

time of a call, median (best)
system  schedule  4 B            1 MiB
gvw     tree      20 us (10 us)  900 us (800 us)
gvw     ring      30 us (29 us)  800 us (700 us)
vw                -              16 ms (15 ms)

CPU of a call, all ranks
system  schedule  4 B    1 MiB
gvw     tree      40 us  1.7 ms
gvw     ring      60 us  1.5 ms
vw                -      1.5 ms

our best schedule / peer, by median
peer  4 B  1 MiB
vw    -    0.05

not measured: mpich: not installed
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var f Figure
	if err := json.NewDecoder(&b).Decode(&f); err != nil || f != r.Figures[0] {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{4, 1}, 2.5}, {[]float64{9, 1, 5}, 5}} {
		if got := median(c.v); got != c.want {
			t.Errorf("got %v, want %v", got, c.want)
		}
	}
}
