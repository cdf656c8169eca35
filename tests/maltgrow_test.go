// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// TestRanksJoinVectorsLate: a rank is killed and returns, or comes late, while the others train over shared vectors. It
// continues with the weights of another one, and all ranks end with one model, whose loss is that of an
// undisturbed job within 5 %. Rank 0 stops meanwhile, so that training does not end before.
func TestRanksJoinVectorsLate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mail := filepath.Join("..", "quickstart")
	parts := shards(t, dir, writeFile(t, filepath.Join(dir, "train.vw"), readFile(t, filepath.Join(mail, "train.vw.gz"))), 4)
	held := writeFile(t, filepath.Join(dir, "held.vw"), readFile(t, filepath.Join(mail, "test.vw.gz")))
	job := func(t *testing.T, name string, elastic bool, late int, plans map[int]string) (loss float64) {
		t.Helper()
		port := startServer(t)
		attempt := func(rank, number int, plan string) *process {
			args := append(clusterArgs(port, 6, rank, 4), "-d", parts[rank], "-f", fmt.Sprintf("%s.%d", name, rank), "--run_id", name,
				"--passes", "2", "-k", "--cache_file", fmt.Sprintf("%s.%d.cache", name, rank), "--holdout_off", "--loss_function", "logistic",
				"--malt", "halton", "--sync", "bsp", "--cb_size", "20", "--on_loss", "grow", "--lost_after", "30s")
			if elastic {
				args = append(args, "--elastic", "--start_timeout", "10s")
			}
			return startWith(t, dir, nil, []string{"GVW_FAULT=" + plan, "GVW_ATTEMPT=" + strconv.Itoa(number)}, gvwBin, args...)
		}
		ranks := make([]*process, 4)
		for rank := range ranks {
			if rank != late || !elastic {
				ranks[rank] = attempt(rank, 1, plans[rank])
			}
		}
		if late >= 0 {
			ranks[0].untilStopped()
			if !elastic {
				if r := ranks[late].wait(); r.code == 0 {
					t.Fatalf("rank %d: exit code 0, want that of a killed process", late)
				}
			}
			ranks[late] = attempt(late, 2, "")
			waitFor(t, "the vectors to take the rank", func() bool {
				st, err := client.Status(t.Context(), nil, "127.0.0.1:"+port, nil)
				return err == nil && slices.ContainsFunc(st.Jobs, func(j protocol.JobStatus) bool {
					return strings.HasSuffix(j.RunKey, "+malt") && j.State == "recovering" && len(j.Removed) == 0
				})
			})
			ranks[0].proceed()
		}
		for rank, p := range ranks {
			r := p.wait()
			r.ends(t, fmt.Sprintf("%s: rank %d", name, rank), 0)
			if rank == late && !strings.Contains(r.stderr, "received the values of a running job") {
				t.Errorf("%s: rank %d has not received the values of another one:\n%s", name, rank, tail(r.stderr, 20))
			}
		}
		first := readFile(t, filepath.Join(dir, name+".0"))
		for rank := 1; rank < 4; rank++ {
			if readFile(t, filepath.Join(dir, fmt.Sprintf("%s.%d", name, rank))) != first {
				t.Errorf("%s: rank %d has another model than rank 0", name, rank)
			}
		}
		r := gvw(t, dir, "-d", held, "-t", "-i", name+".0", "--loss_function", "logistic")
		return numbers(t, strings.TrimPrefix(lineWith(r.stderr, "average loss = "), "average loss = "))[0]
	}
	want := job(t, "undisturbed", false, -1, nil)
	for _, c := range []struct {
		name    string
		elastic bool
		late    int
		plans   map[int]string
	}{
		{"returns", false, 1, map[int]string{0: "exchange:30,kind:stop", 1: "exchange:20,kind:kill"}},
		{"late", true, 3, map[int]string{0: "exchange:30,kind:stop"}},
	} {
		got := job(t, c.name, c.elastic, c.late, c.plans)
		if math.Abs(got-want) > 0.05*want {
			t.Errorf("%s: loss: got %v, want %v within 5 %%", c.name, got, want)
		}
		t.Logf("%s: loss %v, undisturbed %v", c.name, got, want)
	}
}
