// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Task describes a mapper's task. Fields that the environment lacks are zero.
type Task struct {
	Job        string // ID of the job: job_1795239399889_0004
	Number     uint64 // its digits as one number: the nonce in vw's scripts
	Rank       int    // of this map, from 0
	Total      int    // maps of the job
	ID         string // ID of the attempt: attempt_1795239399889_0004_m_000001_0
	Attempt    int    // of this map, from 0
	Generation uint32 // number of the job's ApplicationMaster, from 1; 0: MapReduce 1, which has none

	SubmitHost string // host from which the job was submitted: the gateway
	User       string // user who submitted it
	Out        string // output directory of the job
	Work       string // output directory of the attempt; its files move to Out if this attempt wins
	Split      string // description of the input, for messages

	MemoryMB int           // memory of the container; 0: no limit
	HeapMB   int           // heap of the task's JVM, which shares the container; 0: unknown
	Timeout  time.Duration // silence after which the task is killed; 0: none
	Prefix   string        // prefix of the lines on stderr that are for Hadoop
}

// defaultPrefix is the default of stream.stderr.reporter.prefix.
const defaultPrefix = "reporter:"

// environment has variables by name.
type environment map[string]string

// Parse parses an environment, a list of NAME=value. ok is false outside of a Hadoop task.
// An error names all variables that are missing or invalid.
func Parse(env []string) (t Task, ok bool, err error) {
	vars := make(environment, len(env))
	for _, kv := range env {
		if name, value, found := strings.Cut(kv, "="); found {
			vars[name] = value
		}
	}
	name, id := vars.first("mapreduce_task_attempt_id", "mapred_task_id")
	if id == "" {
		return Task{}, false, nil
	}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("hadoop: "+format, args...)) }
	t = Task{
		ID: id, Prefix: cmp.Or(vars["stream_stderr_reporter_prefix"], defaultPrefix),
		SubmitHost: vars.value("mapreduce_job_submithostname", "mapreduce_job_submithost"),
		User:       vars.value("mapreduce_job_user_name", "user_name", "USER"),
		Out:        vars.value("mapreduce_output_fileoutputformat_outputdir", "mapred_output_dir"),
		Work:       vars.value("mapreduce_task_output_dir", "mapred_work_output_dir"),
		Split:      vars.split(),
	}
	var kind string
	if t.Job, t.Rank, t.Attempt, kind, err = parseAttempt(id); err != nil {
		fault("%s=%s: %w", name, id, err)
	}
	if kind == "r" || vars.value("mapreduce_task_ismap", "mapred_task_is_map") == "false" {
		fault("%s is a reduce task: run gvw as the mapper of a job without reducers (-numReduceTasks 0)", id)
	}
	if _, job := vars.first("mapreduce_job_id", "mapred_job_id"); job != "" {
		t.Job = job
	}
	if t.Number, err = jobNumber(t.Job); err != nil {
		fault("job %q: %w", t.Job, err)
	}
	whole := func(to *int, least int, names ...string) {
		name, value := vars.first(names...)
		if value == "" {
			return
		}
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < least {
			fault("%s=%q is not a whole number from %d", name, value, least)
			return
		}
		*to = n
	}
	whole(&t.Rank, 0, "mapreduce_task_partition", "mapred_task_partition")
	whole(&t.Total, 1, "mapreduce_job_maps", "mapred_map_tasks")
	switch {
	case t.Total == 0:
		fault("the number of maps is missing: want mapreduce_job_maps or mapred_map_tasks")
	case t.Rank >= t.Total:
		fault("map %d of %d: maps are numbered from 0", t.Rank, t.Total)
	}
	var generation, timeout int
	whole(&generation, 1, "mapreduce_job_application_attempt_id")
	whole(&timeout, 0, "mapreduce_task_timeout", "mapred_task_timeout")
	t.Generation, t.Timeout = uint32(generation), time.Duration(timeout)*time.Millisecond
	whole(&t.MemoryMB, -1, "mapreduce_map_memory_mb", "mapred_job_map_memory_mb")
	t.MemoryMB = max(t.MemoryMB, 0)
	t.HeapMB = heapMB(vars.value("mapreduce_map_java_opts", "mapred_map_child_java_opts", "mapred_child_java_opts"))
	return t, true, errors.Join(faults...)
}

// first returns the first of some variables that has a value.
func (e environment) first(names ...string) (name, value string) {
	for _, name := range names {
		if e[name] != "" {
			return name, e[name]
		}
	}
	return "", ""
}

// value returns the value of the first of some variables that has one, or "".
func (e environment) value(names ...string) string {
	_, value := e.first(names...)
	return value
}

// split returns the part of a file that the task reads, for messages. Input that is not a file
// has none.
func (e environment) split() string {
	file := e.value("mapreduce_map_input_file", "map_input_file")
	start, err1 := strconv.ParseInt(e.value("mapreduce_map_input_start", "map_input_start"), 10, 64)
	length, err2 := strconv.ParseInt(e.value("mapreduce_map_input_length", "map_input_length"), 10, 64)
	if file == "" || err1 != nil || err2 != nil {
		return file
	}
	return fmt.Sprintf("%s (bytes %d-%d)", file, start, start+length)
}

// parseAttempt parses an ID such as attempt_1795239399889_0004_m_000001_0.
func parseAttempt(id string) (job string, rank, attempt int, kind string, err error) {
	f := strings.Split(id, "_")
	if len(f) < 6 || f[0] != "attempt" {
		return "", 0, 0, "", errors.New("not the ID of an attempt, such as attempt_1795239399889_0004_m_000001_0")
	}
	n := len(f)
	rank, err1 := strconv.Atoi(f[n-2])
	attempt, err2 := strconv.Atoi(f[n-1])
	if err := errors.Join(err1, err2); err != nil || rank < 0 || attempt < 0 {
		return "", 0, 0, "", errors.New("the last two fields of an attempt's ID must be numbers")
	}
	return "job_" + strings.Join(f[1:n-3], "_"), rank, attempt, f[n-3], nil
}

// jobNumber returns the digits of a job's ID as one number.
func jobNumber(job string) (uint64, error) {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, job)
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || !strings.HasPrefix(job, "job_") {
		return 0, errors.New("not the ID of a job, such as job_1795239399889_0004")
	}
	return n, nil
}
