// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/spantree/client"
)

// With fewer slots than maps, the job trains on the splits of the maps that started. A map that
// gets its slot after the job has ended exits with 0, as the others do; if it is rank 0's, it
// also writes the model.
func TestJobOfStartedMapTasks(t *testing.T) {
	t.Parallel()
	for late, came := range map[int][]int{3: {0, 1, 2}, 0: {1, 2, 3}} {
		t.Run(fmt.Sprint("without rank ", late), func(t *testing.T) {
			t.Parallel()
			dir, _ := mapTasks(t, hybridOptions()...)
			for i, r := range came { // in the output format of gvw run
				if err := os.Link(filepath.Join(dir, fmt.Sprint("part.", r)), filepath.Join(dir, fmt.Sprint("own.", i))); err != nil {
					t.Fatal(err)
				}
			}
			gvw(t, dir, append([]string{"run", "-n", "3", "--", "-d", "own.{rank}", "-f", "three", "--cache_file", "c", "--quiet"}, hybridOptions()...)...)
			want, err := os.ReadFile(filepath.Join(dir, "three"))
			if err != nil {
				t.Fatal(err)
			}
			port := startServer(t)
			args := append(hybridOptions(), "-f", "model", "--elastic", "--start_timeout", "10s")
			tasks := map[int]*process{}
			for _, r := range came {
				tasks[r] = mapTask(t, dir, port, r, 4, 0, nil, args...)
			}
			for _, r := range came {
				res := tasks[r].wait()
				if res.code != 0 {
					t.Fatalf("rank %d: exit code %d\n%s", r, res.code, res.stderr)
				}
				if want := fmt.Sprintf("missing=\"rank %d\" of=4", late); !strings.Contains(res.stderr, want) {
					t.Errorf("rank %d does not say %s:\n%s", r, want, res.stderr)
				}
			}
			res := mapTask(t, dir, port, late, 4, 0, nil, args...).wait()
			if res.code != 0 || res.stdout != "" || !strings.Contains(res.stderr, "reporter:counter:gvw,examples,0") {
				t.Errorf("the late rank %d: exit code %d\n%s", late, res.code, res.stderr)
			}
			holders := []int{came[0]}
			if late == 0 {
				holders = append(holders, 0)
			}
			for r := range 4 {
				got, err := os.ReadFile(outOf(dir, r, 0, "model"))
				switch should := r == holders[0] || r == holders[len(holders)-1]; {
				case should && (err != nil || !bytes.Equal(got, want)):
					t.Errorf("the model of rank %d is not that of gvw run over the other splits: %v", r, err)
				case !should && err == nil:
					t.Errorf("rank %d has left a model, too", r)
				}
			}
		})
	}
}

// When a rank does not join, the others share its part of the list of files, and the model uses
// all of the input.
func TestPresentRanksShareAllOfTheInput(t *testing.T) {
	t.Parallel()
	dir, _ := mapTasks(t, hybridOptions()...)
	data := []string{"-d", "part.0", "-d", "part.1", "-d", "part.2", "-d", "part.3"}
	gvw(t, dir, append(append([]string{"run", "-n", "2", "--", "-f", "two", "--cache_file", "c", "--quiet"}, data...), hybridOptions()...)...)
	want, err := os.ReadFile(filepath.Join(dir, "two"))
	if err != nil {
		t.Fatal(err)
	}
	port := startServer(t)
	join := func(rank int) *process {
		return start(t, dir, gvwBin, append(append([]string{
			"--span_server", "127.0.0.1", "--span_server_port", port, "--unique_id", "5", "--run_id", "shares", "--total", "3", "--node", fmt.Sprint(rank),
			"--on_loss", "wait", "--elastic", "--start_timeout", "10s", "--shard", "bytes", "--cache_file", fmt.Sprint("mine.", rank), "-f", fmt.Sprint("model.", rank),
		}, data...), hybridOptions()...)...)
	}
	first := join(0)
	waitFor(t, "rank 0 to join", func() bool {
		st, err := client.Status(t.Context(), nil, "127.0.0.1:"+port, nil)
		return err == nil && len(st.Jobs) == 1 && st.Jobs[0].Joined == 1
	})
	second := join(1)
	for rank, p := range []*process{first, second} {
		if r := p.wait(); r.code != 0 {
			t.Fatalf("rank %d: exit code %d\n%s", rank, r.code, r.stderr)
		}
		if got, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("model.", rank))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("the model of rank %d is not that of two workers over all of the input: %v", rank, err)
		}
	}
	r := join(2).wait()
	if r.code != 0 || !strings.Contains(r.stderr, "has finished") {
		t.Errorf("rank 2 comes when all is over: exit code %d\n%s", r.code, r.stderr)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "model.2")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the copy of rank 2 is not the model: %v", err)
	}
}
