// SPDX-License-Identifier: Apache-2.0

//go:build long

package hadoop

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// slowReader is a wrapper of gvw that passes the split to the first attempt of rank 1 in small
// pieces.
const slowReader = `#!/usr/bin/env bash
real=./gvw.real
[ -e "$real" ] || real=$(dirname "$(readlink -f "$0")")/gvw.real
case "${1:-} ${mapreduce_task_attempt_id:-}" in
"mapper "*_m_000001_0) perl -e '$| = 1; while (sysread(STDIN, $b, 4096)) { syswrite(STDOUT, $b); select(undef, undef, undef, 1.2) }' | "$real" "$@" ;;
*) exec "$real" "$@" ;;
esac
`

// A map that reads slowly gets a second attempt, which overtakes it: the copy takes the rank,
// the first attempt is ended with the job, and the model has the same bytes. Copies of maps
// that only wait are standbys.
func TestSlowMapIsOvertaken(t *testing.T) {
	in := smallInput(t)
	for _, program := range []string{"perl", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatal(err)
		}
	}
	jar := filepath.Join(shared.dir, "jar", "gvw-speculator.jar")
	build := exec.Command("mvn", "-B", "-ntp", "-q", "-f", "../../scripts/java/pom.xml", "package", "-Dout="+filepath.Dir(jar), "-Dmaven.test.skip=true")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the speculator cannot be built: %v\n%s", err, out)
	}
	dir := t.TempDir()
	wrapper, real := filepath.Join(dir, "gvw"), filepath.Join(dir, "gvw.real")
	if err := os.WriteFile(wrapper, []byte(slowReader), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(shared.programs, "gvw"), real); err != nil {
		t.Fatal(err)
	}
	s := submitWith(t, wrapper, in.hdfs, append(hybrid(), "--speculator", jar, "--file", real)...)
	s.wait(0)
	s.model(in.want(t, hybrid()...))
	defer func() { // only then is speculation worth its cost
		alone := submitWith(t, wrapper, in.hdfs, append(hybrid(), "--no_speculation", "--file", real)...)
		alone.wait(0)
		alone.model(in.want(t, hybrid()...))
		t.Logf("with a second attempt %.1f s, without %.1f s", s.took.Seconds(), alone.took.Seconds())
		if s.took >= alone.took {
			t.Errorf("with speculation the job took %v, without %v", s.took, alone.took)
		}
	}()
	var first, copied string
	for _, a := range s.attempts() {
		switch {
		case a.Rank() == 1 && a.Number() == 0:
			first = a.State
			// The slow attempt had some 50 pieces to read.
			if took := time.Duration(a.Finish-a.Start) * time.Millisecond; a.State == "SUCCEEDED" {
				t.Errorf("the slow attempt has succeeded, after %v", took)
			}
		case a.Rank() == 1 && a.State == "SUCCEEDED":
			copied = a.ID
		case a.State == "FAILED":
			t.Errorf("%s has failed: %s", a.ID, a.Diagnostics)
		}
	}
	if first != "KILLED" || copied == "" {
		t.Errorf("the slow attempt is %s, the copy that has succeeded is %q", first, copied)
	}
	names, err := s.c.List(t.Context(), s.out)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(strings.Join(names, " "), "model"); n != 1 {
		t.Errorf("the output has %v: %d models, want 1", names, n)
	}
}
