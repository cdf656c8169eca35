// SPDX-License-Identifier: Apache-2.0

package site

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// launched returns the environment of a rank under each launcher, the innermost first.
var launched = []struct {
	name string
	env  func(rank, total int) string
}{
	{"torchrun", func(r, n int) string {
		return fmt.Sprintf("TORCHELASTIC_RUN_ID=x RANK=%d WORLD_SIZE=%d MASTER_ADDR=h MASTER_PORT=1", r, n)
	}},
	{"Open MPI", func(r, n int) string {
		return fmt.Sprintf("OMPI_COMM_WORLD_RANK=%d OMPI_COMM_WORLD_SIZE=%d PMIX_RANK=%d PMIX_NAMESPACE=7", r, n, r)
	}},
	{"MPICH", func(r, n int) string { return fmt.Sprintf("PMI_RANK=%d PMI_SIZE=%d HYDI_CONTROL_FD=7", r, n) }},
	{"Slurm", func(r, n int) string {
		return fmt.Sprintf("SLURM_PROCID=%d SLURM_NTASKS=%d SLURM_JOB_ID=1 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=n[1-9]", r, n)
	}},
	{"YARN distributed shell", func(r, n int) string {
		return fmt.Sprintf("YARN_SHELL_ID=%d CONTAINER_ID=container_1_2_01_3", r+1)
	}},
	{"AWS Batch", func(r, n int) string {
		return fmt.Sprintf("AWS_BATCH_JOB_NODE_INDEX=%d AWS_BATCH_JOB_NUM_NODES=%d AWS_BATCH_JOB_MAIN_NODE_INDEX=%d AWS_BATCH_JOB_ID=a#%d", r, n, n-1, r)
	}},
	{"Kubeflow Trainer", func(r, n int) string {
		return fmt.Sprintf("PET_NODE_RANK=%d PET_NNODES=%d PET_MASTER_ADDR=h", r, n)
	}},
	{"JobSet", func(r, n int) string { return fmt.Sprintf("JOBSET_NAME=m JOB_COMPLETION_INDEX=%d", r) }},
	{"Kubernetes", func(r, n int) string { return fmt.Sprintf("JOB_COMPLETION_INDEX=%d", r) }},
}

// TestRanks checks for each launcher that the ranks of a job are 0 to total-1, that all agree about the job, and that the
// variables of the launchers around it change nothing.
func TestRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inner := rapid.IntRange(0, len(launched)-1).Draw(t, "launcher")
		total := rapid.IntRange(1, 9).Draw(t, "total")
		var ranks []int
		var first Rank
		for process := range total {
			in := Input{Env: env(launched[inner].env(process, total)), Total: total, Hostname: "job-" + strconv.Itoa(process)}
			got, err := Find(in)
			if err != nil {
				t.Fatal(err)
			}
			if outer := rapid.IntRange(inner, len(launched)-1).Draw(t, "around it"); outer > inner {
				around := env(launched[outer].env(0, total+1))
				in.Env = slices.Concat(around, in.Env)
				both, err := Find(in)
				if diff := cmp.Diff(got, both); err != nil || diff != "" {
					t.Fatalf("%s in %s: %v (-alone +both):\n%s", launched[inner].name, launched[outer].name, err, diff)
				}
			}
			if got.Launcher != launched[inner].name || got.Total != total {
				t.Fatalf("got %+v, want %s, %d ranks", got, launched[inner].name, total)
			}
			ranks = append(ranks, got.Rank)
			if process == 0 {
				first = got
			}
			if got.Job != first.Job || got.Generation != first.Generation || got.Restarts != first.Restarts {
				t.Fatalf("the ranks disagree: %+v and %+v", first, got)
			}
		}
		slices.Sort(ranks)
		for want, got := range ranks {
			if got != want {
				t.Fatalf("got the ranks %v", ranks)
			}
		}
	})
}

// TestExpandRanges compares lists of ranges with a plain loop.
func TestExpandRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list, want []string
		for range rapid.IntRange(1, 4).Draw(t, "items") {
			name := rapid.StringMatching(`[a-z]{1,3}`).Draw(t, "name")
			low := rapid.IntRange(0, 120).Draw(t, "low")
			high := low + rapid.IntRange(0, 30).Draw(t, "more")
			width := rapid.IntRange(1, 4).Draw(t, "width")
			list = append(list, fmt.Sprintf("%s[%0*d-%d]", name, width, low, high))
			width = len(fmt.Sprintf("%0*d", width, low))
			for n := low; n <= high; n++ {
				want = append(want, fmt.Sprintf("%s%0*d", name, width, n))
			}
		}
		got, err := Expand(strings.Join(list, ","))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v: %v (-want +got):\n%s", list, err, diff)
		}
	})
}

// FuzzExpand checks that no list of a scheduler makes Expand fail other than by an error, or return too much.
func FuzzExpand(f *testing.F) {
	for _, list := range []string{"n[1-3,07],login", "a[1-2]b[3]", "n[", "x,,y"} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		hosts, err := Expand(list)
		if err != nil && hosts != nil || len(hosts) > maxHosts {
			t.Errorf("%q: got %d hosts, %v", list, len(hosts), err)
		}
	})
}
