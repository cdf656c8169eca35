// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// golden returns the environment of a real map task.
func golden(t testing.TB, name string) []string {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	unquote := strings.NewReplacer(`\\`, `\`, `\n`, "\n")
	var env []string
	for line := range strings.Lines(string(text)) {
		env = append(env, unquote.Replace(strings.TrimSuffix(line, "\n")))
	}
	return env
}

const recorded = "hdfs://localhost:18020/out-g-1/_temporary/1/_temporary/"

func TestRealMapTasks(t *testing.T) {
	want := Task{
		Job: "job_1795239399889_0004", Number: 17952393998890004, Rank: 1, Total: 4,
		ID: "attempt_1795239399889_0004_m_000001_0", Generation: 1,
		SubmitHost: "@HOST@", User: "root", Out: "hdfs://localhost:18020/out-g-1",
		Work:     recorded + "attempt_1795239399889_0004_m_000001_0",
		Split:    "hdfs://localhost:18020/user@HOME@/20news/part.3 (bytes 0-4614367)",
		MemoryMB: 256, HeapMB: 100, Timeout: 10 * time.Minute, Prefix: "reporter:",
	}
	got, ok, err := Parse(golden(t, "env-mapper.txt.gz"))
	if err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	// The next attempt of the same map: another job of the same cluster.
	got, ok, err = Parse(golden(t, "env-mapper-attempt1.txt.gz"))
	if err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	if got.Rank != 1 || got.Total != 4 || got.Attempt != 1 || got.Generation != 1 || !strings.HasSuffix(got.Work, got.ID) {
		t.Errorf("%+v, want attempt 1 of rank 1 of 4", got)
	}
}

// Only variables of MapReduce 1 are set, which are those that vw's scripts read.
func TestMapReduce1(t *testing.T) {
	got, ok, err := Parse([]string{
		"mapred_task_id=attempt_200904211745_0018_m_000003_2", "mapred_job_id=job_200904211745_0018", "mapred_map_tasks=7",
		"mapreduce_job_submithost=gateway", "mapred_work_output_dir=/out/_temporary/x", "mapred_output_dir=/out",
		"mapred_task_timeout=600000", "mapred_child_java_opts=-Xmx200m", "mapred_job_map_memory_mb=-1", "user_name=ann",
	})
	want := Task{
		Job: "job_200904211745_0018", Number: 2009042117450018, Rank: 3, Total: 7, ID: "attempt_200904211745_0018_m_000003_2", Attempt: 2,
		SubmitHost: "gateway", User: "ann", Out: "/out", Work: "/out/_temporary/x", HeapMB: 200, Timeout: 10 * time.Minute, Prefix: "reporter:",
	}
	if err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestNoTaskOutsideHadoop(t *testing.T) {
	for _, env := range [][]string{nil, {"PATH=/bin", "HOME=/root", "mapreduce_job_maps=4"}, {"mapreduce_task_attempt_id="}} {
		if got, ok, err := Parse(env); ok || err != nil || got != (Task{}) {
			t.Errorf("%q: %+v, %v, %v", env, got, ok, err)
		}
	}
}

// The error names every fault with its variable.
func TestWrongVariables(t *testing.T) {
	const id = "mapreduce_task_attempt_id=attempt_1_0004_m_000001_0"
	for name, c := range map[string]struct {
		env  []string
		want []string
	}{
		"no total":        {[]string{id}, []string{"mapreduce_job_maps"}},
		"an odd id":       {[]string{"mapred_task_id=task_1", "mapred_map_tasks=2"}, []string{"mapred_task_id=task_1"}},
		"no numbers":      {[]string{"mapred_task_id=attempt_1_2_m_x_y", "mapred_map_tasks=2"}, []string{"must be numbers"}},
		"a reducer":       {[]string{"mapreduce_task_attempt_id=attempt_1_0004_r_000001_0", "mapreduce_job_maps=2"}, []string{"reduce"}},
		"two":             {[]string{id, "mapreduce_job_maps=some", "mapreduce_task_timeout=-3"}, []string{`"some"`, `mapreduce_task_timeout="-3"`}},
		"too large":       {[]string{id, "mapreduce_job_maps=1"}, []string{"map 1 of 1"}},
		"a strange job":   {[]string{id, "mapreduce_job_maps=4", "mapreduce_job_id=4"}, []string{`job "4"`}},
		"generation zero": {[]string{id, "mapreduce_job_maps=4", "mapreduce_job_application_attempt_id=0"}, []string{"application_attempt"}},
	} {
		_, ok, err := Parse(c.env)
		if !ok || err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q in it", name, err, want)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("mapreduce_task_attempt_id=attempt_1_0004_m_000001_0\x00mapreduce_job_maps=4")
	f.Add("mapred_task_id=attempt_200904211745_0018_m_000003_2\x00mapred_map_tasks=7\x00mapreduce_map_java_opts=-Xmx1g -Xmx")
	f.Fuzz(func(t *testing.T, env string) {
		task, ok, err := Parse(strings.Split(env, "\x00"))
		if ok && err == nil && (task.Rank < 0 || task.Rank >= task.Total || task.Job == "") {
			t.Errorf("%+v", task)
		}
		if limit, limited := task.MemoryLimit(); limited && limit > uint64(task.MemoryMB)<<20 {
			t.Errorf("a container of %d MB leaves %d bytes", task.MemoryMB, limit)
		}
	})
}
