// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gvw-project/gvw/internal/spantree/client"
)

// mapTask starts an attempt of a map as streaming does: the split on stdin, the configuration
// in the environment.
func mapTask(t *testing.T, dir, port string, rank, total, attempt int, env []string, args ...string) *process {
	t.Helper()
	id := fmt.Sprintf("attempt_1795239399889_0004_m_%06d_%d", rank, attempt)
	work := filepath.Join(dir, "out", "_temporary", id)
	own := filepath.Join(dir, id)
	for _, d := range []string{work, own} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	split, err := os.Open(filepath.Join(dir, fmt.Sprintf("part.%d", rank)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { split.Close() })
	return startWith(t, own, split, append([]string{
		"mapreduce_task_attempt_id=" + id, "mapreduce_job_id=job_1795239399889_0004", "mapreduce_job_application_attempt_id=1",
		fmt.Sprint("mapreduce_task_partition=", rank), fmt.Sprint("mapreduce_job_maps=", total),
		"mapreduce_task_output_dir=file:" + work, "mapreduce_output_fileoutputformat_outputdir=file:" + filepath.Join(dir, "out"),
		"mapreduce_map_memory_mb=512", "mapreduce_map_java_opts=-Xmx100m", "mapreduce_task_timeout=600000",
		"gvw_span_server=127.0.0.1", "gvw_span_server_port=" + port, "text=of two\nlines",
	}, env...), gvwBin, append([]string{"mapper", "--log", "log", "--"}, args...)...)
}

// mapTasks makes a folder with the splits of four maps, and the model of gvw run over them.
func mapTasks(t *testing.T, options ...string) (dir string, want []byte) {
	t.Helper()
	dir = t.TempDir()
	lines := strings.SplitAfter(readFile(t, filepath.Join("testdata", "golden", "s1000.vw.gz")), "\n")
	for rank := range 4 {
		writeFile(t, filepath.Join(dir, fmt.Sprintf("part.%d", rank)), strings.Join(lines[rank*200:(rank+1)*200], ""))
	}
	gvw(t, dir, append([]string{"run", "-n", "4", "--", "-d", "part.{rank}", "-f", "want", "--cache_file", "c", "--quiet"}, options...)...)
	want, err := os.ReadFile(filepath.Join(dir, "want"))
	if err != nil {
		t.Fatal(err)
	}
	return dir, want
}

func hybridOptions() []string {
	return strings.Fields("-b 12 --hybrid 1:8 --loss_function logistic --l2 1")
}

func outOf(dir string, rank, attempt int, name string) string {
	return filepath.Join(dir, "out", "_temporary", fmt.Sprintf("attempt_1795239399889_0004_m_%06d_%d", rank, attempt), name)
}

// Four maps write the model of gvw run over the same splits; stdout is empty, and Hadoop gets
// their progress.
func TestMapTasksMakeTheModelOfGvwRun(t *testing.T) {
	t.Parallel()
	dir, want := mapTasks(t, hybridOptions()...)
	port := startServer(t)
	var tasks []*process
	for rank := range 4 {
		tasks = append(tasks, mapTask(t, dir, port, rank, 4, 0, nil, append(hybridOptions(), "-f", "model")...))
	}
	for rank, p := range tasks {
		r := p.wait()
		if r.code != 0 || r.stdout != "" {
			t.Fatalf("rank %d: exit code %d, %q on stdout\n%s", rank, r.code, r.stdout, r.stderr)
		}
		for _, want := range []string{"\nreporter:counter:gvw,examples,200\n", "reporter:status:", "gvw mapper: memory: ", "container of 512 MB"} {
			if !strings.Contains(r.stderr, want) {
				t.Errorf("rank %d says no %q:\n%s", rank, want, r.stderr)
			}
		}
	}
	if got, err := os.ReadFile(outOf(dir, 0, 0, "model")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the model is not that of gvw run: %d bytes, want %d; %v", len(got), len(want), err)
	}
	if log := readFile(t, outOf(dir, 0, 0, "log")); !strings.Contains(log, "rank 0 of 4") || strings.Contains(log, "reporter:") {
		t.Errorf("rank 0's log beside the model:\n%s", log)
	}
	if _, err := os.Stat(outOf(dir, 1, 0, "model")); err == nil {
		t.Error("rank 1 has left a model, too")
	}
}

// tasksThatWait starts the four maps of a job and waits until rank 3 has stopped itself at a
// fault point, so that the others wait for it.
func tasksThatWait(t *testing.T, dir, port, at string, args []string) (tasks []*process) {
	t.Helper()
	for rank := range 4 {
		tasks = append(tasks, mapTask(t, dir, port, rank, 4, 0, []string{"GVW_FAULT=rank:3," + at + ",kind:stop"}, args...))
	}
	tasks[3].untilStopped()
	return tasks
}

// A map that gets SIGTERM from YARN ends at once, and another attempt takes its place: the job
// continues and writes the same bytes.
func TestTerminatedMapTaskIsReplaced(t *testing.T) {
	t.Parallel()
	dir, want := mapTasks(t, hybridOptions()...)
	port := startServer(t)
	args := append(hybridOptions(), "-f", "model", "--lost_after", longerThanTests)
	tasks := tasksThatWait(t, dir, port, "work:5", args)
	if err := tasks[2].cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	// A rank that waited for its job would wait for its own replacement, which starts below.
	if r := tasks[2].wait(); r.code != 143 {
		t.Errorf("it ended with exit code %d, want 143\n%s", r.code, r.stderr)
	}
	tasks[2] = mapTask(t, dir, port, 2, 4, 1, nil, args...)
	tasks[3].proceed()
	for rank, p := range tasks {
		if r := p.wait(); r.code != 0 {
			t.Fatalf("rank %d: exit code %d\n%s", rank, r.code, r.stderr)
		}
	}
	if got, err := os.ReadFile(outOf(dir, 0, 0, "model")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the model is not that of an undisturbed run: %v", err)
	}
}

// A speculative copy of a map is a standby until the job has ended. If it exited before, Hadoop
// would count its empty output or start another copy.
func TestSpeculativeMapTaskStandsBy(t *testing.T) {
	t.Parallel()
	dir, want := mapTasks(t, hybridOptions()...)
	port := startServer(t)
	// On a busy machine any rank may be slow, and a copy may take its place.
	args := append(hybridOptions(), "-f", "model", "--lost_after", longerThanTests, "--slow_factor", "0")
	tasks := tasksThatWait(t, dir, port, "work:7", args)
	copied := mapTask(t, dir, port, 0, 4, 1, nil, args...)
	waitFor(t, "the copy to stand by", func() bool {
		st, err := client.Status(t.Context(), nil, "127.0.0.1:"+port, nil)
		return err == nil && len(st.Jobs) == 1 && st.Jobs[0].Standbys == 1
	})
	tasks[3].proceed()
	if r := tasks[0].wait(); r.code != 0 {
		t.Fatalf("the first attempt: exit code %d\n%s", r.code, r.stderr)
	}
	r := copied.wait()
	if r.code != 0 || r.stdout != "" {
		t.Errorf("the copy: exit code %d, stdout %q\n%s", r.code, r.stdout, r.stderr)
	}
	if !strings.Contains(r.stderr, "standing by") {
		t.Errorf("the copy has not stood by:\n%s", r.stderr)
	}
	for rank, p := range tasks {
		if r := p.wait(); r.code != 0 {
			t.Fatalf("rank %d: exit code %d\n%s", rank, r.code, r.stderr)
		}
	}
	for attempt := range 2 { // Hadoop may count either
		if got, err := os.ReadFile(outOf(dir, 0, attempt, "model")); err != nil || !bytes.Equal(got, want) {
			t.Errorf("attempt %d of rank 0: the model is not that of an undisturbed run: %v", attempt, err)
		}
	}
}

// When some ranks never join, the others end with a message that Hadoop shows.
func TestMapTasksThatDoNotAllRun(t *testing.T) {
	t.Parallel()
	dir, _ := mapTasks(t, hybridOptions()...)
	port := startServer(t)
	var tasks []*process
	for rank := range 3 {
		tasks = append(tasks, mapTask(t, dir, port, rank, 4, 0, nil, append(hybridOptions(), "-f", "model", "--start_timeout", "10s")...))
	}
	for rank, p := range tasks {
		r := p.wait()
		// The rank that detects it first exits with 4, the others with 3.
		if r.code != 4 && r.code != 3 {
			t.Errorf("rank %d: exit code %d, want 4 or 3", rank, r.code)
		}
		if !strings.Contains(r.stderr, "\nreporter:status:failed: ") || !strings.Contains(r.stderr, "3 of 4") {
			t.Errorf("rank %d does not say who is missing:\n%s", rank, r.stderr)
		}
	}
}
