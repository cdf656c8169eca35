// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce"
)

// memDir is a run directory in memory. from are the files that Take finds.
type memDir struct {
	mu      sync.Mutex
	options string
	all     map[string]map[[32]byte]string
	from    *files
}

func (d *memDir) Begin(options string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.options != "" && d.options != options {
		return errors.New("other options")
	}
	d.options = options
	return nil
}

func (d *memDir) Put(what string, sum [32]byte, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == nil {
		d.all = map[string]map[[32]byte]string{}
	}
	if d.all[what] == nil {
		d.all[what] = map[[32]byte]string{}
	}
	d.all[what][sum] = b.String()
	return nil
}

func (d *memDir) Take(what string, sum [32]byte, name string) error {
	return d.Put(what, sum, func(w io.Writer) error {
		d.from.mu.Lock()
		defer d.from.mu.Unlock()
		_, err := w.Write(d.from.m[name])
		return err
	})
}

func (d *memDir) Open(what string, sum [32]byte) (io.ReadCloser, error) {
	text, ok := d.all[what][sum]
	if !ok {
		return nil, fmt.Errorf("no %s", what)
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func (d *memDir) Find(what string) (sum [32]byte, err error) {
	if len(d.all[what]) != 1 {
		return sum, fmt.Errorf("%d of %s", len(d.all[what]), what)
	}
	for one := range d.all[what] {
		sum = one
	}
	return sum, nil
}

// named returns files by their names without the part behind the dot.
func named(f *files) map[string]string {
	out := map[string]string{}
	for name, b := range f.m {
		name, _, _ = strings.Cut(name, "!")
		out[name] = string(b)
	}
	return out
}

// An attempt that starts after the end of the run leaves the same files as the run, without
// any work. An attempt that owes nothing also ends.
func TestLateAttempts(t *testing.T) {
	parts, server := deal(randomText(200), 3), serve(t)
	var first, second files
	place := &memDir{from: &first}
	job := func(out *files, mark string, read *int) func(rank int, c *Config) {
		return func(rank int, c *Config) {
			c.Passes, c.Batch.BFGS, c.Reg.L2 = 3, true, 1
			c.Cluster.Join.Job.RunKey, c.Cluster.Join.OnLoss, c.Cluster.RunDir = "run", allreduce.Wait, place
			c.Cluster.Join.StartTimeout = 10 * time.Second
			c.Output.Create = out.create
			if rank == 1 { // owes nothing
				return
			}
			c.Output.Predictions, c.Output.RawPredictions = fmt.Sprintf("p%d!%s", rank, mark), fmt.Sprintf("r%d!%s", rank, mark)
			if rank == 0 {
				c.Model.Final, c.Model.Readable = "m!"+mark, "text!"+mark
			}
			if read != nil {
				open := c.Data.Inputs[0].Open
				c.Data.Inputs[0].Open = func(ctx context.Context) (io.ReadCloser, error) {
					*read++
					return open(ctx)
				}
			}
		}
	}
	if _, errs := runRanksAt(t, server, parts, job(&first, "1", nil)); errors.Join(errs...) != nil {
		t.Fatal(errors.Join(errs...))
	}
	opened := 0
	reports, errs := runRanksAt(t, server, parts, job(&second, "2", &opened))
	for rank, err := range errs {
		if fin, ok := errors.AsType[*allreduce.FinishedError](err); !ok || fin.Model == [32]byte{} || reports[rank] != nil {
			t.Errorf("rank %d ends with %v, want that the job has finished", rank, err)
		}
	}
	if d := cmp.Diff(named(&first), named(&second)); d != "" || len(first.m) != 6 {
		t.Errorf("%d files; late ones (-want +got):\n%s", len(first.m), d)
	}
	if opened > 0 {
		t.Errorf("the data was opened %d times", opened)
	}

	// All or nothing: if one file is missing, no file is copied, and the error names it.
	var third files
	delete(place.all, "raw-predictions-2")
	_, errs = runRanksAt(t, server, parts[:3], job(&third, "3", nil))
	if err := errs[2]; err == nil || !strings.Contains(err.Error(), "rank 2 owes r2!3") || strings.Contains(err.Error(), "not needed") {
		t.Errorf("rank 2: %v", err)
	}
	if _, there := third.m["p2!3"]; there {
		t.Error("rank 2 has written one of two files")
	}
}

// fullDir is a run directory on a full file system.
type fullDir struct{ memDir }

func (*fullDir) Put(string, [32]byte, func(io.Writer) error) error {
	return errors.New("no space left")
}
func (*fullDir) Take(string, [32]byte, string) error { return errors.New("no space left") }

// A job does not fail if a file cannot be kept for late attempts.
func TestRunDirOnAFullDisk(t *testing.T) {
	var out files
	var log bytes.Buffer
	_, errs := runRanks(t, deal(randomText(60), 2), func(rank int, c *Config) {
		c.Cluster.Join.Job.RunKey, c.Cluster.Join.OnLoss, c.Cluster.Join.StartTimeout = "run", allreduce.Wait, 10*time.Second
		c.Output.Create, c.Cluster.RunDir = out.create, &fullDir{}
		if rank == 0 {
			c.Model.Final, c.Output.Predictions = "m", "p"
			c.Diagnostics.Log = slog.New(slog.NewTextHandler(&log, nil))
		}
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if len(out.m["m"]) == 0 || len(out.m["p"]) == 0 || strings.Count(log.String(), "no space left") != 2 {
		t.Errorf("a model of %d bytes, predictions of %d; the log:\n%s", len(out.m["m"]), len(out.m["p"]), &log)
	}
}

// Without a run directory an attempt that owes files is refused. An attempt that has waited
// for other ranks in vain reports that the job did not start.
func TestLateAttemptsWithoutARunDir(t *testing.T) {
	parts, server := deal(randomText(60), 2), serve(t)
	var out files
	place := &memDir{from: &out}
	change := func(rank int, c *Config) {
		c.Cluster.Join.Job.RunKey, c.Cluster.Join.OnLoss = "run", allreduce.Wait
		c.Output.Create, c.Cluster.RunDir = out.create, place
		if rank == 0 {
			c.Model.Final = "m"
		}
	}
	if _, errs := runRanksAt(t, server, parts, change); errors.Join(errs...) != nil {
		t.Fatal(errors.Join(errs...))
	}
	_, errs := runRanksAt(t, server, parts, func(rank int, c *Config) {
		change(rank, c)
		c.Cluster.RunDir = nil
	})
	if no, ok := errors.AsType[*allreduce.RefusedError](errs[0]); !ok || !no.Finished() {
		t.Errorf("rank 0: %v, want the refusal", errs[0])
	}
	if _, ok := errors.AsType[*allreduce.FinishedError](errs[1]); !ok {
		t.Errorf("rank 1 owes nothing, and ends with %v", errs[1])
	}

	// Another server does not know the run. The run directory does, if it has one model.
	forgetful := serve(t)
	attempt := func(dir RunDir) error {
		var late files
		_, errs := runRanksAt(t, forgetful, parts[:1], func(rank int, c *Config) {
			change(rank, c)
			c.Cluster.Join.Total, c.Cluster.Join.StartTimeout = 2, 200*time.Millisecond
			c.Output.Create, c.Cluster.RunDir = late.create, dir
		})
		if fin, ok := errors.AsType[*allreduce.FinishedError](errs[0]); ok && !bytes.Equal(late.m["m"], out.m["m"]) {
			t.Errorf("%v, and the model is not the run's", fin)
		}
		return errs[0]
	}
	if _, ok := errors.AsType[*allreduce.FinishedError](attempt(place)); !ok {
		t.Error("the place holds the model, and the attempt does not see it")
	}
	if err := place.Put("model", [32]byte{1}, func(io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []RunDir{place, nil} {
		if start, ok := errors.AsType[*allreduce.StartError](attempt(dir)); !ok {
			t.Errorf("%v: %v, want that the job did not start", dir, start)
		}
	}
	if err := attempt(&memDir{options: "others"}); err == nil || !strings.Contains(err.Error(), "other options") {
		t.Errorf("another run's place: %v", err)
	}
}
