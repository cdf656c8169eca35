// SPDX-License-Identifier: Apache-2.0

package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/plain"
	"github.com/gvw-project/gvw/internal/search/strategy"
)

// tailBytes is the size of the end of a job's stderr that is kept for the reason of its failure.
const tailBytes = 4096

// outputDelay bounds the reading of a job's output after its end, since a process that it has
// started may hold the output open.
const outputDelay = 2 * time.Second

// interruptDelay bounds the time between the end of an interrupted job and the same signal to this process.
const interruptDelay = time.Second

// trainer runs jobs as processes of this program.
type trainer struct {
	base     *base
	space    strategy.Space
	resource string   // option that the amount of a job sets; empty: none
	self     string   // this program
	env      []string // without variables of options
	dir      string   // caches, and files of jobs
	holdout  bool     // a held-out loss is needed: there is no progressive one
}

// run runs a job. The error is the end of ctx, after which the outcome has no meaning; all other failures are
// outcomes.
func (t *trainer) run(ctx context.Context, n int, j strategy.Job) (outcome, error) {
	o := outcome{Trial: j.Trial, Resource: j.Resource, Options: optionsOf(t.space, j)}
	s := t.base.trial(t.base.apply(t.space, j, t.resource))
	log := filepath.Join(t.dir, fmt.Sprintf("job%d.log", n))
	s.Set("log_json", log)
	s.Set("quiet", "true")
	t.shareCache(s, j.Values)
	result, stderr, cpu, err := t.process(ctx, t.base.args(s), nil)
	if err != nil {
		return o, err
	}
	if result.Code == 128+int(syscall.SIGINT) || result.Code == 128+int(syscall.SIGTERM) {
		// Ctrl-C reaches all processes of a terminal. This one may see it a moment after its jobs, which have
		// not failed then.
		select {
		case <-ctx.Done():
			return o, context.Cause(ctx)
		case <-time.After(interruptDelay):
		}
	}
	o.Seconds, o.CPU, o.Code = result.After.Seconds(), cpu.Seconds(), result.Code
	text, err := os.ReadFile(log)
	if rerr := os.Remove(log); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
		return o, rerr
	}
	switch {
	case result.Err != nil:
		o.Error = result.Err.Error()
	case result.Code != 0:
		o.Error = lastLine(stderr)
	case err != nil:
		o.Error = err.Error()
	default:
		if loss, err := heldOutLoss(text, t.holdout); err != nil {
			o.Error = err.Error()
		} else {
			o.Loss = &loss
		}
	}
	return o, nil
}

// process runs this program until it ends. Its stderr goes to errout; nil: its end is returned.
func (t *trainer) process(ctx context.Context, args []string, errout io.Writer) (launch.Result, string, time.Duration, error) {
	var end tail
	cmd := exec.Command(t.self, args...)
	cmd.Env, cmd.WaitDelay, cmd.Stderr = t.env, outputDelay, &end
	if errout != nil {
		cmd.Stderr = errout
	}
	// The pipe of a launcher ends the process if this one is killed.
	results, _, err := launch.Job{EmptyStdin: launch.CanInherit}.Run(ctx, []*exec.Cmd{cmd})
	if err != nil {
		return launch.Result{}, "", 0, err
	}
	if err := context.Cause(ctx); err != nil {
		return launch.Result{}, "", 0, err
	}
	return results[0], end.String(), results[0].CPU, nil
}

// shareCache makes trials with the same examples read one cache. The first of them writes it, under
// a temporary name until it is whole; jobs that run at the same time may each write one.
func (t *trainer) shareCache(s *cli.Settings, values []string) {
	name := s.Get("cache_file")
	key := t.base.cacheKey(t.space, values)
	if name == "" || key != "" {
		sum := fnv.New64a()
		_, _ = io.WriteString(sum, key) // a hash never fails
		name = filepath.Join(t.dir, fmt.Sprintf("examples.%016x.cache", sum.Sum64()))
	}
	s.Set("cache")
	s.Set("kill_cache")
	s.Set("cache_file", name)
}

// heldOutLoss returns the loss of a training on held-out examples, from the lines of its log. The
// model of SGD is that of the best pass, and so is the loss; batch solvers deliver the last pass.
// Without held-out examples a single pass of SGD has the progressive loss, of predictions before
// each update.
func heldOutLoss(text []byte, holdout bool) (loss float64, err error) {
	known, passes := false, 0
	var progressive *float64
	online := true
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		var line struct {
			Method  string              `json:"method"`
			Loss    *float64            `json:"loss"`
			Holdout *float64            `json:"holdout_loss"`
			Valid   map[string]*float64 `json:"valid"`
		}
		if err := d.Decode(&line); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return 0, fmt.Errorf("cannot read the losses of the passes: %w", err)
		}
		passes++
		held := line.Holdout
		if line.Valid != nil {
			held = line.Valid["loss"]
		}
		progressive, online = line.Loss, line.Method == "SGD"
		if held != nil && (!known || *held < loss || !online) {
			known, loss = true, *held
		}
	}
	switch {
	case known:
		return loss, nil
	case !holdout && passes == 1 && online && progressive != nil:
		return *progressive, nil
	case passes == 0:
		return 0, errors.New("the training has made no pass")
	}
	return 0, errors.New("no example was held out: give --valid, or --passes N with N > 1")
}

// tail keeps the end of what is written to it.
type tail struct{ b []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.b = append(t.b, b...)
	if len(t.b) > 2*tailBytes {
		t.b = append(t.b[:0], t.b[len(t.b)-tailBytes:]...)
	}
	return len(b), nil
}

func (t *tail) String() string { return string(t.b) }

// lastLine returns the last line of a text that is not empty, which has the cause of a failure.
func lastLine(text string) string {
	line := strings.TrimSpace(text)
	if i := strings.LastIndexByte(line, '\n'); i >= 0 {
		line = line[i+1:]
	}
	if line == "" {
		return "it printed no reason"
	}
	return plain.Text(strings.TrimPrefix(line, "gvw: "))
}
