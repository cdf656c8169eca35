// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stream returns the output of `go test -json` for lines of the form "action package test
// output".
func stream(t *testing.T, lines ...string) string {
	t.Helper()
	var b bytes.Buffer
	for _, line := range lines {
		f := strings.SplitN(line, " ", 4)
		for len(f) < 4 {
			f = append(f, "")
		}
		e := event{Action: f[0], Package: f[1], Test: f[2]}
		if f[3] != "" {
			e.Output = f[3] + "\n"
		}
		if err := json.NewEncoder(&b).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// sumUp records each stream as a run of its own and reports them all.
func sumUp(t *testing.T, requireAll bool, streams ...string) (talk, report string, ok bool) {
	t.Helper()
	dir := t.TempDir()
	var files []string
	var out bytes.Buffer
	for i, s := range streams {
		file := filepath.Join(dir, string(rune('a'+i))+".json")
		if _, err := recordFile(strings.NewReader(s), &out, file); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	var rep bytes.Buffer
	ok, err := reportFiles(&rep, files, 0, false, requireAll)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), rep.String(), ok
}

func TestSubtestsCountThroughThemselves(t *testing.T) {
	_, got, ok := sumUp(t, false, stream(t,
		"pass p TestA/x", "pass p TestA/y", "pass p TestA", "pass p TestB", "pass p"))
	if want := "3 passed, 0 failed, 0 skipped\n"; got != want || !ok {
		t.Errorf("ok %v, report %q, want %q", ok, got, want)
	}
}

func TestAFailureCountsOnceAndIsPrinted(t *testing.T) {
	talk, got, ok := sumUp(t, false, stream(t,
		"output p TestA/x a_test.go:3: got 1, want 2", "fail p TestA/x", "fail p TestA", "pass p TestB", "fail p"))
	if want := "failed   a: p TestA/x\n         a_test.go:3: got 1, want 2\n1 passed, 1 failed, 0 skipped\n"; got != want || ok {
		t.Errorf("ok %v, report %q, want %q", ok, got, want)
	}
	if !strings.Contains(talk, "got 1, want 2") {
		t.Errorf("the failure's text is not printed: %q", talk)
	}
}

// A failed test may have logged much: the report repeats its first lines in order.
func TestFindingsAreFewAndShort(t *testing.T) {
	said := []string{"=== RUN   TestA\n", "    a_test.go:3: " + strings.Repeat("é", 1000) + "\n", "        a second line of it\n"}
	for range 10 {
		said = append(said, "    a_test.go:5: again\n")
	}
	got := findings(said)
	if len(got) != maxFindings || len(got[0]) > maxFinding || !strings.HasPrefix(got[0], "a_test.go:3: éé") || got[1] != "a_test.go:5: again" {
		t.Errorf("findings %q", got)
	}
}

// When the process of a package dies, the output of its running tests is printed, with the
// trace, and the package counts as failed.
func TestACrashIsPrinted(t *testing.T) {
	talk, got, ok := sumUp(t, false, stream(t,
		"pass p TestA", "output p TestB panic: no", "output q TestC quiet", "output p  FAIL p", "fail p"))
	if want := "failed   a: p\n1 passed, 1 failed, 0 skipped\n"; got != want || ok {
		t.Errorf("got %q, want %q", got, want)
	}
	if !strings.Contains(talk, "panic: no") || strings.Contains(talk, "quiet") {
		t.Errorf("printed %q", talk)
	}
}

func TestParentWithoutFailedSubtestCounts(t *testing.T) {
	_, got, _ := sumUp(t, false, stream(t, "pass p TestA/x", "fail p TestA", "fail p"))
	if want := "failed   a: p TestA\n1 passed, 1 failed, 0 skipped\n"; got != want {
		t.Errorf("report %q, want %q", got, want)
	}
}

func TestAPackageThatDoesNotBuildCounts(t *testing.T) {
	in := `{"ImportPath":"p","Action":"build-output","Output":"p/x.go:1:1: syntax error\n"}` + "\n" +
		`{"ImportPath":"p","Action":"build-fail"}` + "\n" + stream(t, "output p  FAIL p [build failed]", "fail p")
	talk, got, ok := sumUp(t, false, in)
	if want := "failed   a: p\n0 passed, 1 failed, 0 skipped\n"; got != want || ok {
		t.Errorf("ok %v, report %q, want %q", ok, got, want)
	}
	if !strings.Contains(talk, "syntax error") {
		t.Errorf("the compiler's words are not printed: %q", talk)
	}
}

func TestSkipsAreListedWithTheirReason(t *testing.T) {
	in := stream(t, "output p TestA === RUN   TestA", "output p TestA a_test.go:7: needs a server: port 1",
		"output p TestA --- SKIP: TestA (0.00s)", "skip p TestA", "pass p")
	for _, all := range []bool{false, true} {
		_, got, ok := sumUp(t, all, in)
		if !strings.HasPrefix(got, "skipped  p TestA: needs a server: port 1\n") || !strings.HasSuffix(got, "\n0 passed, 0 failed, 1 skipped\n") {
			t.Errorf("report %q", got)
		}
		if ok == all {
			t.Errorf("require-all %v: ok %v", all, ok)
		}
	}
}

func TestASkipThatAnotherRunMadeUpForDoesNotCount(t *testing.T) {
	_, got, ok := sumUp(t, true, stream(t, "pass p TestA", "pass p"), stream(t, "skip p TestA", "pass p"))
	if want := "1 passed, 0 failed, 0 skipped\n"; got != want || !ok {
		t.Errorf("ok %v, report %q, want %q", ok, got, want)
	}
}

func TestASkipInTwoRunsIsOne(t *testing.T) {
	s := stream(t, "skip p TestA", "pass p")
	_, got, _ := sumUp(t, false, s, s)
	if want := "skipped  p TestA: no reason given\n0 passed, 0 failed, 1 skipped\n"; got != want {
		t.Errorf("report %q, want %q", got, want)
	}
}

func TestLinesThatAreNoEventsPassThrough(t *testing.T) {
	talk, _, _ := sumUp(t, false, "go: downloading x\n{broken\n"+stream(t, "output p  ok  	p	0.1s", "pass p"))
	if want := "go: downloading x\n{broken\nok  	p	0.1s\n"; talk != want {
		t.Error(cmp.Diff(want, talk))
	}
}

func TestAMissingRecordingIsAnError(t *testing.T) {
	if _, err := reportFiles(&bytes.Buffer{}, []string{filepath.Join(t.TempDir(), "none")}, 0, false, false); !os.IsNotExist(err) {
		t.Errorf("error %v, want that the file does not exist", err)
	}
}

func TestRemainingTestsAreThoseThatDidNotRunInFull(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a_test.go")
	if err := os.WriteFile(file, []byte("package a\n"+
		"func TestMain(m *testing.M) {}\n"+
		"func TestWhole(t *testing.T) {}\n"+
		"func TestFailed(t *testing.T) {}\n"+
		"func TestSkipped(t *testing.T) {}\n"+
		"func TestSubtestSkipped(t *testing.T) {}\n"+
		"func TestSampled(t *testing.T) {}\n"+
		"func TestSampledToNothing(t *testing.T) {}\n"+
		"func TestSubtestSampledToNothing(t *testing.T) {}\n"+
		"func TestSampledAndSkipped(t *testing.T) {}\n"+
		"func TestPartLeftOut(t *testing.T) {}\n"+
		"func TestLeftOutByTheBuild(t *testing.T) {}\n"+
		"func FuzzLeftOut(f *testing.F) {}\n"+
		"func BenchmarkLeftOut(b *testing.B) {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	if _, err := record(strings.NewReader(stream(t,
		"output p TestWhole a_test.go:9: not sampled", "pass p TestWhole",
		"fail p TestFailed",
		"output p TestSkipped a_test.go:1: slow", "skip p TestSkipped",
		"skip p TestSubtestSkipped/x", "pass p TestSubtestSkipped",
		"output p TestSampled/x     a_test.go:7: sampled: 3 of 9", "pass p TestSampled/x", "pass p TestSampled",
		"output p TestSampledToNothing     a_test.go:7: sampled: slow", "skip p TestSampledToNothing",
		"output p TestSubtestSampledToNothing/x     a_test.go:7: sampled: slow", "skip p TestSubtestSampledToNothing/x", "pass p TestSubtestSampledToNothing",
		"output p TestSampledAndSkipped/x     a_test.go:7: sampled: slow", "skip p TestSampledAndSkipped/x", "skip p TestSampledAndSkipped/y", "pass p TestSampledAndSkipped",
		"output p TestPartLeftOut     a_test.go:7: left out: 3 of 9", "pass p TestPartLeftOut",
		"pass q TestLeftOutByTheBuild", "fail p")), &bytes.Buffer{}, &log); err != nil {
		t.Fatal(err)
	}
	for short, want := range map[bool]string{
		false: "^(FuzzLeftOut|TestLeftOutByTheBuild|TestPartLeftOut|TestSampled|TestSampledAndSkipped|TestSampledToNothing|TestSkipped|TestSubtestSampledToNothing|TestSubtestSkipped)$\np\n",
		true:  "^(FuzzLeftOut|TestLeftOutByTheBuild|TestPartLeftOut|TestSampledAndSkipped|TestSkipped|TestSubtestSkipped)$\np\n",
	} {
		var got bytes.Buffer
		if err := remaining(strings.NewReader(log.String()), strings.NewReader("p "+file+"\n"), &got, short); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("remaining, short %v (-want +got):\n%s", short, diff)
		}
	}
	var got bytes.Buffer
	if err := remaining(strings.NewReader(stream(t, "pass q TestLeftOutByTheBuild")), strings.NewReader(""), &got, false); err != nil || got.Len() > 0 {
		t.Errorf("no files: got %q, %v", &got, err)
	}
}

// In a short report a test that -short leaves out is no skip. Others are.
func TestShortReport(t *testing.T) {
	in := stream(t, "output p TestA     a_test.go:7: sampled: slow", "skip p TestA", "output p TestB     a_test.go:8: needs a server", "skip p TestB", "pass p TestC", "pass p")
	file := filepath.Join(t.TempDir(), "a.json")
	if _, err := recordFile(strings.NewReader(in), &bytes.Buffer{}, file); err != nil {
		t.Fatal(err)
	}
	for short, want := range map[bool]string{
		true:  "left to make test-all  p TestA: sampled: slow\nskipped  p TestB: needs a server\n1 passed, 0 failed, 1 skipped\n",
		false: "skipped  p TestA: sampled: slow\nskipped  p TestB: needs a server\n1 passed, 0 failed, 2 skipped\n",
	} {
		var got bytes.Buffer
		if _, err := reportFiles(&got, []string{file}, 0, short, false); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("short %v (-want +got):\n%s", short, diff)
		}
	}
}

func TestSlowestTestsComeFirst(t *testing.T) {
	var l ledger
	for _, e := range []event{
		{Action: "pass", Package: "p", Test: "TestA", Elapsed: 2},
		{Action: "pass", Package: "p", Test: "TestB/x", Elapsed: 9},
		{Action: "pass", Package: "p", Test: "TestB", Elapsed: 9},
		{Action: "pass", Package: "p", Elapsed: 11},
		{Action: "fail", Package: "q", Test: "TestC", Elapsed: 3},
	} {
		l.add("unit", e)
	}
	var got []string
	for _, o := range l.slowest(2) {
		got = append(got, o.name())
	}
	if diff := cmp.Diff([]string{"p TestB", "q TestC"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if n := len(l.slowest(9)); n != 3 {
		t.Errorf("%d of three tests are listed", n)
	}
}
