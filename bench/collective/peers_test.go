// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// Each installed peer returns figures for every size that it supports. The measurements are
// tiny: the test checks that the programs work. GVW_VW_PYTHON names the interpreter that has vw
// and XGBoost.
func TestPeersThatAreThere(t *testing.T) {
	if testing.Short() {
		t.Skip("sampled: starts several programs")
	}
	cfg := Config{
		Ranks: 2, Sizes: []int{4, 4096}, PerSize: time.Millisecond, Peers: true, Self: []string{"none"},
		Python: os.Getenv("GVW_VW_PYTHON"),
	}.withDefaults()
	found, absent := peers(t.Context(), cfg)
	for _, a := range absent {
		t.Logf("NOT TESTED: %s: %s", a.System, a.Why)
	}
	if len(found) == 0 {
		skip(t, "no peer is installed")
	}
	for _, s := range found {
		system, _ := s.name()
		t.Run(system, func(t *testing.T) {
			cfg.Patience = time.Minute
			batches, err := take(t.Context(), s, cfg)
			// Some turns of MPICH hang before the first batch (see mpi.go), so they are tried
			// again.
			for tries := 1; err != nil && system == "mpich" && tries < 4; tries++ {
				t.Logf("turn %d: %v", tries, err)
				batches, err = take(t.Context(), s, cfg)
			}
			if err != nil {
				t.Fatal(err)
			}
			sizes := map[int]bool{}
			for _, b := range batches {
				sizes[b.Bytes] = true
			}
			if !sizes[4096] || sizes[4] != (system != "vw") {
				t.Errorf("figures for %v, want 4096 bytes and, but of vw, 4", sizes)
			}
			if err := s.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A peer that is not installed is named, with how to get it.
func TestAbsentPeersAreNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	cfg := tiny()
	cfg.Transport, cfg.Peers = "tcp", true
	cfg.Python = "no-such-python"
	found, absent := peers(t.Context(), cfg.withDefaults())
	if len(found) > 0 {
		t.Errorf("found %v", found)
	}
	for i, want := range []Absent{
		{"openmpi", "apt-get install openmpi-bin"},
		{"mpich", "apt-get install mpich"},
		{"xgboost", "pip install xgboost"},
		{"vw", "pip install vowpalwabbit"},
	} {
		if i >= len(absent) || absent[i].System != want.System || !strings.Contains(absent[i].Why, want.Why) {
			t.Errorf("want %+v in %+v", want, absent)
		}
	}
}

// moody is a peer whose every second turn fails.
type moody struct{ turns int }

func (m *moody) name() (string, string) { return "moody", "" }
func (m *moody) close() error           { return nil }

func (m *moody) turn(context.Context) ([]Batch, error) {
	if m.turns++; m.turns%2 == 0 {
		return nil, errors.New("not today")
	}
	return []Batch{{Bytes: 4, Calls: 10, US: 1, CPU: 2}}, nil
}

// A failed turn of a peer is noted, and the results of its other turns are kept.
func TestAFailedTurnIsNoted(t *testing.T) {
	cfg := tiny()
	cfg.Rounds = 3
	r := &Result{Config: cfg.withDefaults()}
	if err := r.measure(t.Context(), []system{&moody{}}); err != nil {
		t.Fatal(err)
	}
	if len(r.Figures) != 1 || r.Figures[0].Calls != 20 {
		t.Errorf("got %+v", r.Figures)
	}
	if len(r.Absent) != 1 || r.Absent[0].Why != "1 of 3 turns failed: not today" {
		t.Errorf("got %+v", r.Absent)
	}
}

func skip(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("REQUIRE_ALL") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}
