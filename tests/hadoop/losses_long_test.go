// SPDX-License-Identifier: Apache-2.0

//go:build long

package hadoop

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/tests/hadoop/cluster"
	"github.com/gvw-project/gvw/tests/harness"
)

// A mapper is killed in every phase of a job: Hadoop starts another attempt of that map, the
// job continues, the other maps do not run again, and the model has the same bytes.
func TestMapperIsKilledInEachPhase(t *testing.T) {
	in := smallInput(t)
	for _, c := range []struct {
		phase, fault string
		rank         int
		diagnostics  string
	}{
		{"SGD", "rank:2,work:1,kind:kill", 2, "failed with code 137"},
		{"L-BFGS", "rank:2,work:5,kind:exit,code:1", 2, "failed with code 1"},
		{"delivery", "rank:0,delivery:1,kind:kill", 0, "failed with code 137"},
		// rank 0's log is written when the server has said good-bye to all
		{"after the end", "rank:0,write:2,kind:kill", 0, "failed with code 137"},
	} {
		t.Run(c.phase, func(t *testing.T) {
			s := begin(t, in, c.fault)
			s.wait(0)
			s.model(in.want(t, hybrid()...))
			s.replaced(c.rank, c.diagnostics)
		})
	}
}

// replaced checks that the first attempt of a rank has failed and another one has succeeded,
// and that the other ranks had only one attempt.
func (s *submission) replaced(rank int, diagnostics string) {
	s.t.Helper()
	again := false
	for _, a := range s.attempts() {
		switch {
		case a.Rank() == rank && a.Number() == 0:
			if a.State != "FAILED" || !strings.Contains(a.Diagnostics, diagnostics) {
				s.t.Errorf("%s is %s, want FAILED with %q: %s", a.ID, a.State, diagnostics, a.Diagnostics)
			}
		case a.Rank() == rank && a.State == "SUCCEEDED":
			again = true
		case a.Rank() != rank && !a.Speculative() && (a.Number() > 0 || a.State != "SUCCEEDED"):
			s.t.Errorf("%s was run again, or did not succeed: %s %s", a.ID, a.State, a.Diagnostics)
		}
	}
	if !again {
		s.t.Errorf("no further attempt of rank %d has succeeded", rank)
	}
}

// A map that Hadoop ends gets SIGTERM; that does not end the job either.
func TestAttemptIsKilledByHadoop(t *testing.T) {
	in := smallInput(t)
	s := begin(t, in, slowly)
	s.running(0)
	var victim cluster.Attempt
	for _, a := range s.attempts() {
		if a.Rank() == 2 {
			victim = a
		}
	}
	if out, err := s.c.Command(t.Context(), "mapred", "job", "-kill-task", victim.ID).CombinedOutput(); err != nil {
		t.Fatalf("mapred job -kill-task: %v\n%s", err, out)
	}
	s.wait(0)
	s.model(in.want(t, hybrid()...))
	for _, a := range s.attempts() {
		if a.ID == victim.ID && a.State != "KILLED" {
			t.Errorf("%s is %s: the job was over too soon for this test", a.ID, a.State)
		}
		if a.State == "FAILED" {
			t.Errorf("%s has failed: %s", a.ID, a.Diagnostics)
		}
	}
	log, err := s.c.Log(victim.Container, "stderr")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log, "told to end (SIGTERM)") {
		t.Errorf("the victim has not said why it ends:\n%s", log)
	}
}

// A node is lost in L-BFGS, with its maps and without. The six passes that are left take 30 s, longer than Hadoop needs to
// declare the node lost.
func TestNodeIsLostLater(t *testing.T) {
	for name, mapsToo := range map[string]bool{"with its maps": true, "without them": false} {
		t.Run(name, func(t *testing.T) { loseNode(t, "rank:1,work:1,delay:5s", 3, mapsToo) })
	}
}

// Mappers that fail are replaced like mappers that are killed.
func TestMappersFail(t *testing.T) { mappersEnd(t, "kind:exit,code:1", 1) }

// Hadoop removes the folder of an attempt that it has given up. If that attempt lives on, it
// ends the job, and no other map runs again. The attempt itself fails, because streaming misses
// one of its files.
func TestOutputOfAnAttemptIsRemoved(t *testing.T) {
	in := smallInput(t)
	s := begin(t, in, slowly)
	s.running(0)
	for _, a := range s.attempts() {
		if a.Rank() > 0 {
			continue
		}
		if err := s.c.Remove(t.Context(), s.out+"/_temporary/1/_temporary/"+a.ID); err != nil {
			t.Fatal(err)
		}
	}
	s.wait(0)
	s.model(in.want(t, hybrid()...))
	for _, a := range s.attempts() {
		if want := a.Rank() > 0 || a.Number() == 1; want != (a.State == "SUCCEEDED") || a.Rank() > 0 && a.Number() > 0 {
			t.Errorf("%s is %s: %s", a.ID, a.State, a.Diagnostics)
		}
	}
}

// The ApplicationMaster is killed, in the middle and after some maps have succeeded. Its next
// attempt starts a new generation of the maps that have not, and the job ends with the model.
func TestMasterIsKilled(t *testing.T) {
	in := smallInput(t)
	t.Run("in the middle", func(t *testing.T) {
		s := begin(t, in, slowly)
		s.running(0)
		s.killMaster()
		s.wait(0)
		s.model(in.want(t, hybrid()...))
		s.generations()
	})
	t.Run("after the first success", func(t *testing.T) {
		// Rank 0 writes the log slowly, after the end of the job.
		s := begin(t, in, "rank:0,write:2,delay:20s")
		s.eventually("a map to succeed", jobLimit, func() bool {
			for _, a := range s.attempts() {
				if a.State == "SUCCEEDED" {
					return true
				}
			}
			return false
		})
		s.killMaster()
		s.wait(0)
		s.model(in.want(t, hybrid()...))
		s.generations()
	})
}

// killMaster kills the job's ApplicationMaster.
func (s *submission) killMaster() {
	s.t.Helper()
	container := "container_" + strings.TrimPrefix(s.app().ID, "application_") + "_01_000001"
	pid := int(harness.Find(func(p harness.Process) bool {
		args := p.Args()
		return path.Base(args[0]) == "java" && strings.Contains(strings.Join(args, " "), "MRAppMaster") && p.Env("CONTAINER_ID") == container
	}))
	if pid == 0 {
		s.t.Fatal("the ApplicationMaster is not to be found")
	}
	if err := kill(pid); err != nil {
		s.t.Fatal(err)
	}
}

// generations checks that the job has had two generations.
func (s *submission) generations() {
	s.t.Helper()
	second := false
	for _, a := range s.attempts() {
		second = second || a.Number() >= 1000 // those of the second ApplicationMaster
		if a.State == "FAILED" {
			s.t.Errorf("%s has failed: %s", a.ID, a.Diagnostics)
		}
	}
	if !second {
		s.t.Errorf("no attempt is of the second ApplicationMaster: %v", fmt.Sprint(s.attempts()))
	}
}
