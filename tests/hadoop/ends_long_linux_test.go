// SPDX-License-Identifier: Apache-2.0

//go:build long

package hadoop

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"testing"
)

// The node of rank 0 is lost when the rank is about to deliver the model, or when it has
// received the end of the job; its map dies with the node or lives on. The job succeeds with
// the same bytes, and no map of another node runs again.
func TestNodeIsLostAtTheEnd(t *testing.T) {
	in := smallInput(t)
	for _, c := range []struct {
		name, at string
		mapsToo  bool
	}{
		{"at delivery, with its maps", "delivery:1", true},
		{"at delivery, without them", "delivery:1", false},
		{"after the end, with its maps", "write:2", true}, // writing its log is its last step
		{"after the end, without them", "write:2", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			// The ApplicationMaster has a node of its own, so it is not lost.
			s := begin(t, in, "rank:0,"+c.at+",kind:stop", "-D", fmt.Sprintf("yarn.app.mapreduce.am.resource.mb=%d", nodeMB), "--force")
			var pid int
			s.eventually("rank 0 to stop there", jobLimit, func() bool {
				pid = s.findMapper(0, 0)
				return pid != 0 && stopped(pid)
			})
			var node string
			again := map[int]bool{} // ranks that may have more attempts than one
			attempts := s.attempts()
			for _, a := range attempts {
				if a.Rank() == 0 {
					node = a.Node
				}
			}
			if master := s.app().MasterAddress; node == master {
				t.Fatalf("rank 0 runs beside the ApplicationMaster, on %s", master)
			}
			if err := s.c.Kill(s.c.NodeManagerAt(node)); err != nil {
				t.Fatal(err)
			}
			defer s.back(s.c.NodeManagerAt(node))
			for _, a := range attempts {
				if again[a.Rank()] = again[a.Rank()] || a.Node == node; a.Node != node || !c.mapsToo {
					continue
				}
				if pid := s.findMapper(a.Rank(), a.Number()); pid != 0 {
					if err := kill(pid); err != nil {
						t.Error(err)
					}
				}
			}
			if !c.mapsToo {
				if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
			}
			s.wait(0)
			s.model(in.want(t, hybrid()...))
			s.onlyAgain(again)
		})
	}
}

// onlyAgain checks that every rank has succeeded, and that only the ranks in may had more than
// one attempt.
func (s *submission) onlyAgain(may map[int]bool) {
	s.t.Helper()
	done := map[int]bool{}
	for _, a := range s.attempts() {
		done[a.Rank()] = done[a.Rank()] || a.State == "SUCCEEDED"
		if a.Number() > 0 && !may[a.Rank()] && !a.Speculative() {
			s.t.Errorf("%s was run, and is %s: %s", a.ID, a.State, a.Diagnostics)
		}
	}
	for rank := range 4 {
		if !done[rank] {
			s.t.Errorf("no attempt of rank %d has succeeded", rank)
		}
	}
}

// stopped reports whether a process is stopped, as by SIGSTOP.
func stopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && bytes.Contains(stat, []byte(") T "))
}
