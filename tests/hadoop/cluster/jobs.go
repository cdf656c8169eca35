// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// App is a YARN application.
type App struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	State       string `json:"state"`       // RUNNING, FINISHED, …
	Final       string `json:"finalStatus"` // SUCCEEDED, FAILED, KILLED; UNDEFINED: still running
	Diagnostics string `json:"diagnostics"`
	Started     int64  `json:"startedTime"` // ms
	Elapsed     int64  `json:"elapsedTime"` // ms

	MasterAddress string `json:"amHostHttpAddress"` // of the node with its ApplicationMaster
}

// Job returns the id of the application's MapReduce job.
func (a App) Job() string { return strings.Replace(a.ID, "application", "job", 1) }

// some is a list in JSON; some versions write a list of one element as that element.
type some[T any] []T

func (s *some[T]) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '{' {
		*s = make(some[T], 1)
		return json.Unmarshal(text, &(*s)[0])
	}
	return json.Unmarshal(text, (*[]T)(s))
}

// Apps returns the applications, oldest first.
func (c *Cluster) Apps(ctx context.Context) ([]App, error) {
	var a struct {
		Apps *struct {
			App some[App] `json:"app"`
		} `json:"apps"`
	}
	if err := ask(ctx, "GET", c.manager()+"/ws/v1/cluster/apps", &a); err != nil || a.Apps == nil {
		return nil, err
	}
	slices.SortFunc(a.Apps.App, func(x, y App) int { return cmp.Compare(x.ID, y.ID) })
	return a.Apps.App, nil
}

// App returns the newest application with this name.
func (c *Cluster) App(ctx context.Context, name string) (App, error) {
	apps, err := c.Apps(ctx)
	if err != nil {
		return App{}, err
	}
	for _, a := range slices.Backward(apps) {
		if a.Name == name {
			return a, nil
		}
	}
	return App{}, fmt.Errorf("cluster: no application is called %q", name)
}

// Attempt is one attempt of a map.
type Attempt struct {
	ID          string `json:"id"`
	State       string `json:"state"`     // RUNNING, SUCCEEDED, FAILED, KILLED, …
	Status      string `json:"status"`    // last status of the mapper; the history does not keep it
	Start       int64  `json:"startTime"` // ms
	Finish      int64  `json:"finishTime"`
	Diagnostics string `json:"diagnostics"`
	Container   string `json:"assignedContainerId"`
	Node        string `json:"nodeHttpAddress"`
}

// Rank returns the number of the map.
func (a Attempt) Rank() int { return a.field(2) }

// Speculative reports whether the attempt was ended because another attempt had succeeded, or
// with the job, in which case the history lacks its end. The texts compared are Hadoop's.
func (a Attempt) Speculative() bool {
	return a.State == "KILLED" && (strings.Contains(a.Diagnostics, "succeeded first") || strings.Contains(a.Diagnostics, "state missing from History"))
}

// Number returns the number of the attempt.
func (a Attempt) Number() int { return a.field(1) }

func (a Attempt) field(fromEnd int) int {
	f := strings.Split(a.ID, "_")
	n := -1
	if len(f) >= fromEnd {
		_, _ = fmt.Sscan(f[len(f)-fromEnd], &n) // -1: not the id of an attempt
	}
	return n
}

// NodeManagerAt returns the name of the NodeManager with this HTTP address, or "".
func (c *Cluster) NodeManagerAt(address string) string {
	for k := range c.cfg.Nodes {
		if _, port, _ := strings.Cut(address, ":"); port == strconv.Itoa(c.cfg.Port+nodePorts+10*k+2) {
			return NodeManager + strconv.Itoa(k+1)
		}
	}
	return ""
}

// Attempts returns the attempts of a job's maps, in order of their ids, from the
// ApplicationMaster while the job runs and from the history afterwards.
func (c *Cluster) Attempts(ctx context.Context, job string) ([]Attempt, error) {
	app := strings.Replace(job, "job", "application", 1)
	var errs []error
	for _, base := range []string{
		c.manager() + "/proxy/" + app + "/ws/v1/mapreduce/jobs/" + job,
		c.history() + "/ws/v1/history/mapreduce/jobs/" + job,
	} {
		all, err := attemptsAt(ctx, base)
		if err == nil {
			return all, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func attemptsAt(ctx context.Context, base string) (all []Attempt, err error) {
	var tasks struct {
		Tasks struct {
			Task some[struct {
				ID   string `json:"id"`
				Type string `json:"type"`
			}] `json:"task"`
		} `json:"tasks"`
	}
	if err := ask(ctx, "GET", base+"/tasks", &tasks); err != nil {
		return nil, err
	}
	for _, t := range tasks.Tasks.Task {
		if t.Type != "MAP" {
			continue
		}
		var a struct {
			Attempts struct {
				Attempt some[Attempt] `json:"taskAttempt"`
			} `json:"taskAttempts"`
		}
		if err := ask(ctx, "GET", base+"/tasks/"+t.ID+"/attempts", &a); err != nil {
			return nil, err
		}
		all = append(all, a.Attempts.Attempt...)
	}
	slices.SortFunc(all, func(x, y Attempt) int { return cmp.Compare(x.ID, y.ID) })
	return all, nil
}

// Counters returns the counters of a group of a job that has ended.
func (c *Cluster) Counters(ctx context.Context, job, group string) (map[string]int64, error) {
	var a struct {
		Counters struct {
			Group some[struct {
				Name    string `json:"counterGroupName"`
				Counter some[struct {
					Name string `json:"name"`
					Sum  int64  `json:"totalCounterValue"`
				}] `json:"counter"`
			}] `json:"counterGroup"`
		} `json:"jobCounters"`
	}
	if err := ask(ctx, "GET", c.history()+"/ws/v1/history/mapreduce/jobs/"+job+"/counters", &a); err != nil {
		return nil, err
	}
	for _, g := range a.Counters.Group {
		if g.Name != group {
			continue
		}
		all := map[string]int64{}
		for _, k := range g.Counter {
			all[k.Name] = k.Sum
		}
		return all, nil
	}
	return nil, fmt.Errorf("cluster: job %s has no counters of group %q", job, group)
}

// Log returns the content of a file in a container's log folder: stderr, stdout, syslog.
func (c *Cluster) Log(container, file string) (string, error) {
	found, err := filepath.Glob(filepath.Join(c.cfg.Dir, "nm*", "log", "application_*", container, file))
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", fmt.Errorf("cluster: container %s has no log %s", container, file)
	}
	text, err := os.ReadFile(found[0])
	return string(text), err
}

// AwaitApp waits until an application has ended.
func (c *Cluster) AwaitApp(ctx context.Context, name string, limit time.Duration) (App, error) {
	var app App
	err := c.await(ctx, "the end of "+name, limit, func(ctx context.Context) (err error) {
		if app, err = c.App(ctx, name); err == nil && (app.Final == "UNDEFINED" || app.State != "FINISHED" && app.State != "FAILED" && app.State != "KILLED") {
			err = fmt.Errorf("it is %s", app.State)
		}
		return err
	})
	return app, err
}
