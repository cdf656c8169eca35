// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/tests/hadoop/cluster"
)

// slowly lets rank 1 take so much longer for every pass that something can be done to
// the job meanwhile: nine passes.
const slowly = "rank:1,work:1,delay:1500ms"

// kill ends a process that is not ours.
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
// model is to be delivered, and after the end. Hadoop starts another attempt of that map each
// time, the job goes on, no other map is run again, and the model has the same bytes.
func TestMappersAreKilled(t *testing.T) {
	in := smallInput(t)
	s := begin(t, in, strings.Join([]string{
		"rank:1,work:1,kind:kill",
		"rank:2,work:5,kind:kill",
		"rank:0,delivery:1,kind:kill",
		"rank:0,attempt:2,write:2,kind:kill", // its log is written when the server has said good-bye to all
	}, ";"))
	s.wait(0)
	s.model(in.want(t, hybrid()...))
	failed, succeeded := map[int]int{}, map[int]int{}
	for _, a := range s.attempts() {
		switch {
		case a.State == "SUCCEEDED":
			succeeded[a.Rank()]++
		case a.State == "FAILED" && strings.Contains(a.Diagnostics, "failed with code 137"):
			failed[a.Rank()]++
		case a.Speculative():
			// When maps have ended, YARN takes one that was run again for slow.
		default:
			t.Errorf("%s is %s: %s", a.ID, a.State, a.Diagnostics)
		}
	}
	if d := cmp.Diff(map[int]int{0: 2, 1: 1, 2: 1}, failed); d != "" {
		t.Errorf("attempts that have failed, by rank: %s", d)
	}
	if d := cmp.Diff(map[int]int{0: 1, 1: 1, 2: 1, 3: 1}, succeeded); d != "" {
		t.Errorf("attempts that have succeeded, by rank: %s", d)
	}
}

// A node is lost in the middle of a job, its NodeManager and its maps.
func TestNodeIsLost(t *testing.T) { loseNode(t, slowly, true) }

// loseNode kills a NodeManager in a job with a fault, with its maps or without. Without, the maps
// live on and end the job that Hadoop believes them to be lost for; their new attempts find it
// finished.
func loseNode(t *testing.T, fault string, mapsToo bool) {
	in := smallInput(t)
	s := begin(t, in, fault)
	s.running()
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

// nodeWithoutMaster is a NodeManager that runs maps of the job and not its ApplicationMaster,
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

// back starts a NodeManager again, and waits until it is there.
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
