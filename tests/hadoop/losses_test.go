// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/tests/hadoop/cluster"
)

// slowly slows each pass of rank 1, so that a test can disturb the job in one of its nine
// passes.
const slowly = "rank:1,work:1,delay:1500ms"

// kill ends a process that this process did not start.
func kill(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

// begin submits a job with a fault in the first attempt of a rank.
func begin(t *testing.T, in *input, fault string, args ...string) *submission {
	t.Helper()
	return submit(t, in.hdfs, append(append(hybrid(), "--env", "GVW_FAULT="+fault), args...)...)
}

// In one job a mapper is killed in every phase: while it reads, in a pass of L-BFGS, when the
// model is to be delivered, and after the end; another one fails.
func TestMappersAreKilled(t *testing.T) {
	mappersEnd(t, "kind:kill", 137, "rank:3,work:1,kind:exit,code:1")
}

// mappersEnd ends a mapper in every phase of one job, plus more. Hadoop starts another attempt
// of that map each time, the job continues, no other map runs again, and the model has the same
// bytes.
func mappersEnd(t *testing.T, how string, code int, more ...string) {
	in := smallInput(t)
	s := begin(t, in, strings.Join(append([]string{
		"rank:1,work:1," + how,
		"rank:2,work:5," + how,
		"rank:0,delivery:1," + how,
		"rank:0,attempt:2,write:2," + how, // its log is written after the server's last message to all ranks
	}, more...), ";"))
	s.wait(0)
	s.model(in.want(t, hybrid()...))
	ended := regexp.MustCompile(`failed with code (\d+)`)
	got := map[string]int{}
	for _, a := range s.attempts() {
		why := ended.FindStringSubmatch(a.Diagnostics)
		switch {
		case a.State == "SUCCEEDED":
			got[fmt.Sprintf("rank %d succeeds", a.Rank())]++
		case a.State == "FAILED" && why != nil:
			got[fmt.Sprintf("rank %d ends with %s", a.Rank(), why[1])]++
		case a.Speculative():
			// When maps have ended, YARN considers one that runs again slow.
		default:
			t.Errorf("%s is %s: %s", a.ID, a.State, a.Diagnostics)
		}
	}
	want := map[string]int{fmt.Sprintf("rank 0 ends with %d", code): 2}
	for rank := range 4 {
		want[fmt.Sprintf("rank %d succeeds", rank)] = 1
		if rank == 1 || rank == 2 {
			want[fmt.Sprintf("rank %d ends with %d", rank, code)] = 1
		}
	}
	if len(more) > 0 {
		want["rank 3 ends with 1"] = 1
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("attempts, -want +got:\n%s", d)
	}
}

// A node is lost in the middle of a job: its NodeManager and its maps, and then a NodeManager
// whose maps live on.
func TestNodeIsLost(t *testing.T) {
	t.Parallel()
	t.Run("with its maps", func(t *testing.T) { loseNode(t, slowly, 0, true) })
	t.Run("without its maps", func(t *testing.T) { loseNode(t, moreSlowly, 0, false) })
}

// moreSlowly keeps all maps running until Hadoop declares a node lost, 10 to 14 s after its end:
// nine passes take 27 s.
const moreSlowly = "rank:1,work:1,delay:3s"

// loseNode kills a NodeManager in a pass of a job with a fault, with its maps or without.
// Without, the maps live on and end the job, although Hadoop considers them lost; their new
// attempts find it finished.
func loseNode(t *testing.T, fault string, pass int, mapsToo bool) {
	in := smallInput(t)
	s := begin(t, in, fault)
	s.running(pass)
	node, victims := s.nodeWithoutMaster()
	var pids []int
	for _, a := range victims {
		pids = append(pids, s.mapper(a.Rank(), a.Number()))
	}
	if err := s.c.Kill(node); err != nil {
		t.Fatal(err)
	}
	if mapsToo {
		for _, pid := range pids {
			if err := kill(pid); err != nil {
				t.Error(err)
			}
		}
	}
	defer s.back(node)
	s.wait(0)
	s.model(in.want(t, hybrid()...))
	lost := map[string]bool{}
	for _, a := range victims {
		lost[a.ID] = true
	}
	for _, a := range s.attempts() {
		switch {
		case lost[a.ID] && a.State == "SUCCEEDED":
			t.Errorf("%s has succeeded on a node that was lost", a.ID)
		case !lost[a.ID] && a.State != "SUCCEEDED" && !a.Speculative():
			t.Errorf("%s is %s: %s", a.ID, a.State, a.Diagnostics)
		}
	}
}

// nodeWithoutMaster returns a NodeManager that runs maps of the job and not its ApplicationMaster,
// and those maps.
func (s *submission) nodeWithoutMaster() (name string, on []cluster.Attempt) {
	s.t.Helper()
	master := s.app().MasterAddress
	for _, a := range s.attempts() {
		if a.Node == master || name != "" && s.c.NodeManagerAt(a.Node) != name {
			continue
		}
		name = s.c.NodeManagerAt(a.Node)
		on = append(on, a)
	}
	if name == "" {
		s.t.Fatalf("all maps run beside the ApplicationMaster, on %s", master)
	}
	return name, on
}

// back starts a NodeManager again and waits until it is active.
func (s *submission) back(node string) {
	s.t.Helper()
	if err := s.c.StartDaemon(node); err != nil {
		s.t.Fatal(err)
	}
	s.eventually(node+" to be back", time.Minute, func() bool {
		n, err := s.c.ActiveNodes(context.Background())
		return err == nil && n == nodes
	})
}
