// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gvw-project/gvw/tests/hadoop/cluster"
	"github.com/gvw-project/gvw/tests/harness"
)

// The instances of a component of a YARN service are the ranks of one job, with the Yarnfile of docs/hadoop.md. YARN
// restarts the rank whose processes are killed, and the service ends with the model of gvw run.
func TestServiceTrains(t *testing.T) {
	const name = "gvw-train"
	c, in := hadoop(t), smallInput(t)
	if err := c.StartDaemon(cluster.ZooKeeper); err != nil {
		t.Fatal(err)
	}
	file := yarnfile(t, c, in)
	ctx, cancel := context.WithTimeout(t.Context(), jobLimit)
	defer cancel()
	began := time.Now()
	if out, err := c.Command(ctx, "yarn", "app", "-launch", name, file).CombinedOutput(); err != nil {
		t.Fatalf("yarn app -launch: %v\n%s", err, out)
	}
	t.Logf("yarn app -launch took %.1f s", time.Since(began).Seconds())
	t.Cleanup(func() {
		if t.Failed() {
			showService(t, c)
		}
	})

	rank := func(id int, more func(harness.Process) bool) harness.Process {
		return harness.Find(func(p harness.Process) bool {
			return p.Says("run") && strings.HasSuffix(p.Args()[0], "gvw") && p.Env("COMPONENT_ID") == fmt.Sprint(id) && more(p)
		})
	}
	var lost harness.Process
	if !harness.Until(jobLimit, 100*time.Millisecond, func() bool {
		if app, err := c.App(t.Context(), name); err == nil && app.Final != "UNDEFINED" {
			t.Fatalf("the service has %s: %s", app.Final, app.Diagnostics)
		}
		lost = rank(1, func(p harness.Process) bool { return child(int(p)) != 0 })
		return lost != 0
	}) {
		t.Fatalf("waited %v for the worker of rank 1", jobLimit)
	}
	first := lost.Env("CONTAINER_ID")
	t.Logf("rank 1 has a worker after %.1f s", time.Since(began).Seconds())
	// As with a lost container the worker must not report that its launcher has gone, which would end the job.
	worker := child(int(lost))
	for _, end := range []struct {
		process harness.Process
		signal  syscall.Signal
	}{{worker, syscall.SIGSTOP}, {lost, syscall.SIGKILL}, {worker, syscall.SIGKILL}} {
		if err := syscall.Kill(int(end.process), end.signal); err != nil {
			t.Fatalf("%v to process %d: %v", end.signal, end.process, err)
		}
	}

	var app cluster.App
	second := ""
	if !harness.Until(jobLimit, 100*time.Millisecond, func() bool {
		if p := rank(1, func(p harness.Process) bool { return p != lost }); p != 0 {
			second = p.Env("CONTAINER_ID")
		}
		var err error
		app, err = c.App(t.Context(), name)
		return err == nil && app.Final != "UNDEFINED"
	}) {
		t.Fatalf("waited %v for the end of the service", jobLimit)
	}
	t.Logf("the service took %.1f s; rank 1 ran in %s and then in %s", time.Since(began).Seconds(), first, second)
	if app.Final != "SUCCEEDED" {
		t.Fatalf("the service has %s: %s", app.Final, app.Diagnostics)
	}
	if second == "" {
		t.Error("YARN has not started rank 1 again")
	}
	got, err := c.Get(t.Context(), "/service.model")
	if err != nil {
		t.Fatal(err)
	}
	if want := in.want(t, hybrid()...); !bytes.Equal(got, want) {
		t.Errorf("the model has %d bytes that are not those of gvw run (%d)", len(got), len(want))
	}
}

// yarnfile writes the Yarnfile of the documentation with the paths and sizes of this cluster.
func yarnfile(t *testing.T, c *cluster.Cluster, in *input) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/hadoop.md")
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`(?s)\n    \{\n.*?\n    \}\n`).Find(page)
	var service struct {
		Name          string         `json:"name"`
		Version       string         `json:"version"`
		Configuration map[string]any `json:"configuration"`
		Components    []struct {
			Name          string                    `json:"name"`
			Containers    int                       `json:"number_of_containers"`
			RestartPolicy string                    `json:"restart_policy"`
			Command       string                    `json:"launch_command"`
			Resource      map[string]any            `json:"resource"`
			Configuration map[string]map[string]any `json:"configuration"`
		} `json:"components"`
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&service); err != nil {
		t.Fatalf("the Yarnfile of docs/hadoop.md: %v\n%s", err, text)
	}
	ranks := &service.Components[0]
	before, _, found := strings.Cut(ranks.Command, " -- ")
	if !found || !strings.HasPrefix(before, "/opt/bin/gvw run --join=gateway ") {
		t.Fatalf("the Yarnfile has the command %q", ranks.Command)
	}
	ranks.Command = strings.NewReplacer(
		"/opt/bin/gvw", filepath.Join(shared.programs, "gvw"), "--join=gateway", "--join --join_dir "+filepath.Join(shared.dir, "join-service"),
	).Replace(before) + fmt.Sprintf(" -- -d %s%s/part.{rank} -f %[1]s/service.model --cache_file c --quiet %[3]s", c.HDFS(), in.hdfs, strings.Join(hybrid(), " "))
	ranks.Resource["memory"] = "256"
	service.Configuration = map[string]any{"properties": map[string]string{
		"yarn.service.am-resource.memory": "384", "yarn.service.am.java.opts": "-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1",
	}}
	out, err := json.Marshal(service)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "Yarnfile")
	if err := os.WriteFile(file, out, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// child returns a process that the given one has started; 0: none.
func child(pid int) harness.Process {
	return harness.Find(func(p harness.Process) bool { return p.Parent() == pid })
}

// showService logs what the ResourceManager and the containers have written.
func showService(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(c.Dir(), "nm*", "log", "application_*", "container_*", "*"))
	if err != nil {
		t.Log(err)
	}
	for _, name := range append(logs, c.LogFile(cluster.ResourceManager), c.LogFile(cluster.ZooKeeper)) {
		if text, err := os.ReadFile(name); err == nil {
			t.Logf("%s:\n%s", name, text[max(0, len(text)-4000):])
		}
	}
}
