// SPDX-License-Identifier: Apache-2.0

//go:build long

package hadoop

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var withoutRanks = regexp.MustCompile(`the model is without the splits of ranks? ([0-9, ]+), whose maps had not begun in time`)

// With --elastic and more maps than the cluster runs at once, the job trains on the splits of
// the maps that have started. The others succeed when they get their slot, and the gateway
// names them.
func TestMoreMapsThanSlotsTrain(t *testing.T) {
	in := smallInput(t)
	s := submit(t, in.hdfs, append(hybrid(), "--memory", "1200", "--elastic", "--timeout", "20s")...)
	s.wait(0)
	s.said("the maps will not all run at once")
	found := withoutRanks.FindStringSubmatch(s.stderr.String())
	if found == nil {
		t.Fatal("mapscript.sh has not said whose splits are missing")
	}
	missing := strings.Split(found[1], ", ")
	dir, n := t.TempDir(), 0
	for rank := range 4 {
		if slices.Contains(missing, fmt.Sprint(rank)) {
			continue
		}
		if err := os.Link(filepath.Join(in.dir, fmt.Sprint("part.", rank)), filepath.Join(dir, fmt.Sprint("part.", n))); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n == 0 || n == 4 {
		t.Fatalf("%d maps have trained, without %v", n, missing)
	}
	cmd := exec.Command(filepath.Join(shared.programs, "gvw"), append([]string{
		"run", "-n", fmt.Sprint(n), "--", "-d", filepath.Join(dir, "part.{rank}"), "-f", "model", "--cache_file", "c", "--quiet",
	}, hybrid()...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gvw run: %v\n%s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(dir, "model"))
	if err != nil {
		t.Fatal(err)
	}
	s.model(want)
	for _, a := range s.attempts() {
		if a.State != "SUCCEEDED" && !a.Speculative() {
			t.Errorf("%s is %s: %s", a.ID, a.State, a.Diagnostics)
		}
	}
	t.Logf("%d of 4 maps have trained", n)
}
