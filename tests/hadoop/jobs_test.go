// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func hybrid() []string {
	return strings.Fields("-b 14 --hybrid 1:8 --loss_function logistic --l2 1")
}

// A job of four maps writes the model of gvw run over the same splits, byte for byte, and
// leaves only the model and the log.
func TestJobOfFourMaps(t *testing.T) {
	in := smallInput(t)
	s := submit(t, in.hdfs, hybrid()...)
	s.wait(0)
	s.model(in.want(t, hybrid()...))
	names, err := s.c.List(t.Context(), s.out)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"_SUCCESS", "log", "model", "part-00000", "part-00001", "part-00002", "part-00003"}
	if names = slices.DeleteFunc(names, func(n string) bool { return n == "_gvw" }); !slices.Equal(names, want) {
		t.Errorf("the output has %v, want %v", names, want)
	}
	log, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil || !strings.Contains(string(log), "rank 0 of 4") || !strings.Contains(string(log), "finished run") {
		t.Errorf("rank 0's log: %v\n%s", err, log)
	}
	if counters := s.counters("gvw"); counters["examples"] != int64(in.lines) {
		t.Errorf("the job's counters: %v, want %d examples", counters, in.lines)
	}
	for _, a := range s.attempts() {
		if a.State != "SUCCEEDED" || a.Number() != 0 {
			t.Errorf("%s is %s: %s", a.ID, a.State, a.Diagnostics)
		}
	}
	s.said("submitted", "it is job_", "done: "+s.out+"/model")
}

// Detectable faults are reported on the gateway, before anything is submitted.
func TestRefusals(t *testing.T) {
	t.Parallel() // beside TestNodeIsLost
	in := smallInput(t)
	c := hadoop(t)
	if err := c.Put(t.Context(), "/out-there/model", []byte("an old one")); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		name, out, in string
		args          []string
		code          int
		want          []string
	}{
		{"the input is missing", "/out-none", "/nowhere", nil, 5, []string{"cannot list the input /nowhere", "No such file"}},
		{"more maps than the cluster has room for", "/out-none", in.hdfs, []string{"--memory", "1200"}, 6, []string{"run at once", "--force"}},
		{"an option that does not exist", "/out-none", in.hdfs, []string{"--hibrid", "1:2"}, 1, []string{"did you mean --hybrid"}},
		{"the output exists", "/out-there", in.hdfs, nil, 5, []string{"/out-there exists", "--overwrite"}},
	} {
		t.Run(k.name, func(t *testing.T) {
			s := submitTo(t, filepath.Join(shared.programs, "gvw"), k.out, k.in, append(hybrid(), k.args...)...)
			s.wait(k.code)
			s.said(k.want...)
		})
	}
}
