// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestFind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	mark := fmt.Sprint("two\nlines of ", os.Getpid())
	cmd := exec.Command(sleep, "60", "1")
	cmd.Env = append(os.Environ(), "HARNESS_MARK="+mark)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}()
	is := func(p Process) bool { return p.Env("HARNESS_MARK") == mark }
	if !Until(20*time.Second, time.Millisecond, func() bool { return Find(is) != 0 }) {
		t.Fatal("it is not found by its environment")
	}
	p := Find(is)
	if int(p) != cmd.Process.Pid || p.Parent() != os.Getpid() {
		t.Errorf("found %d with parent %d, want %d and %d", p, p.Parent(), cmd.Process.Pid, os.Getpid())
	}
	if !Until(20*time.Second, time.Millisecond, func() bool { return p.Says("60", "1") }) || p.Says("6") || p.Says("1", "60") || p.Says("60", "1", "2") {
		t.Errorf("its arguments are %q", p.Args())
	}
	if Find(func(p Process) bool { return p.Env("HARNESS_MARK") == mark+"." }) != 0 {
		t.Error("another one is found")
	}
	gone := Process(1 << 30)
	if gone.Parent() != 0 || gone.Env("PATH") != "" || gone.Says("x") {
		t.Error("a process that does not exist says something")
	}
}

func TestData(t *testing.T) {
	root := t.TempDir()
	d := Data{Root: root, Sets: filepath.Join(root, "none")}
	if _, err := d.Shared("data"); err == nil {
		t.Error("found a data set that does not exist")
	}
	if _, err := d.Real(1); err == nil {
		t.Error("examples come from nowhere")
	}
	name := filepath.Join(root, "quickstart", "train.vw.gz")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprint(z, "1 |a\n2 |b\n3 |c\n")
	z.Close()
	if err := os.Mkdir(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Real(2); err != nil || string(got) != "1 |a\n2 |b\n" {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.WriteFile(name, b.Bytes()[:20], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Gunzip(name); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("a torn file: %v", err)
	}
}

func TestBufferAndUntil(t *testing.T) {
	var b Buffer
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { fmt.Fprint(&b, "x") })
	}
	if !Until(20*time.Second, time.Millisecond, func() bool { return len(b.String()) == 10 }) {
		t.Errorf("%q", b.String())
	}
	all.Wait()
	asked := 0
	if Until(0, time.Millisecond, func() bool { asked++; return false }) || asked == 0 {
		t.Errorf("a condition that is never true was checked %d times", asked)
	}
}

// Programs builds none that are there, and names one that cannot be built.
func TestPrograms(t *testing.T) {
	if dir, err := Programs(t.Context(), "built", t.TempDir(), "gvw"); err != nil || dir != "built" {
		t.Errorf("got %q and %v, want the directory that has the programs", dir, err)
	}
	if _, err := Programs(t.Context(), "", t.TempDir(), "none"); err == nil || !strings.Contains(err.Error(), "cmd/none") {
		t.Errorf("got %v, want the name of the program", err)
	}
}

func TestGo(t *testing.T) {
	err := Go(t.Context(), []string{"GOFLAGS=-mod=mod"}, "vet", "./no/such/folder")
	if err == nil || !strings.Contains(err.Error(), "go vet ./no/such/folder") {
		t.Errorf("got %v", err)
	}
}
