// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package maltstorm

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/server"
	"github.com/gvw-project/gvw/malt"
)

const (
	// hangs is the time after which a job counts as hanging.
	hangs = 2 * time.Minute
	// restartAfter is the pause of the launcher.
	restartAfter = 200 * time.Millisecond
	maxAttempts  = 6
)

// serve runs a server on the loopback until the end of the test, and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(server.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background(), l) }()
	t.Cleanup(func() { s.Close(); <-served })
	return l.Addr().String()
}

// job is a running job.
type job struct {
	task
	mu       sync.Mutex
	running  []*os.Process // by rank; nil: none at present
	waiting  int           // ranks that have not begun to train
	begun    chan struct{} // closed when all have begun
	early    bool          // faults begin with the processes, and not with training
	paces    []time.Duration
	lost     int
	replaced int
}

// outcome is the end of a rank.
type outcome struct {
	result
	err  error
	text string // what its attempts have logged
}

// run starts all ranks, and launches them again as the policy demands. It returns when all have ended.
func (j *job) run(ctx context.Context) []outcome {
	j.mu.Lock()
	j.running, j.waiting = make([]*os.Process, j.Total), j.Total
	j.mu.Unlock()
	out := make([]outcome, j.Total)
	var ranks sync.WaitGroup
	for rank := range j.Total {
		ranks.Go(func() {
			var log strings.Builder
			for range maxAttempts {
				r, text, err := j.attempt(ctx, rank)
				log.WriteString(text)
				out[rank] = outcome{r, err, log.String()}
				if err == nil || ctx.Err() != nil {
					return
				}
				j.mu.Lock()
				j.lost++
				again := j.OnLoss == malt.Wait || j.OnLoss == malt.Grow
				if again {
					j.replaced++
				}
				j.mu.Unlock()
				if !again {
					return
				}
				time.Sleep(restartAfter)
			}
		})
	}
	ranks.Wait()
	return out
}

// attempt runs the process of a rank to its end.
func (j *job) attempt(ctx context.Context, rank int) (r result, log string, err error) {
	own := j.task
	own.Rank, own.LostAfter = rank, cmp.Or(j.LostAfter, lostAfter)
	if rank < len(j.paces) {
		own.Pace = j.paces[rank]
	}
	text, err := json.Marshal(own)
	if err != nil {
		return r, "", err
	}
	program, err := os.Executable()
	if err != nil {
		return r, "", err
	}
	var stderr bytes.Buffer
	c := exec.CommandContext(ctx, program)
	c.Env = append(os.Environ(), envTask+"="+string(text))
	c.Stderr = &stderr
	stdout, err := c.StdoutPipe()
	if err != nil {
		return r, "", err
	}
	if err := c.Start(); err != nil {
		return r, "", err
	}
	j.mu.Lock()
	j.running[rank] = c.Process
	j.mu.Unlock()
	var last []byte // the result
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if last = bytes.Clone(lines.Bytes()); string(last) == started {
			j.begins()
		}
	}
	err = c.Wait()
	j.mu.Lock()
	j.running[rank] = nil
	j.mu.Unlock()
	if err != nil {
		return r, stderr.String(), fmt.Errorf("%w: %s", err, lastLine(stderr.String()))
	}
	return r, stderr.String(), json.Unmarshal(last, &r)
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// begins notes that an attempt has begun to train. Of each rank the first one counts: before a job has begun, the end
// of a rank is no loss.
func (j *job) begins() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.waiting--; j.waiting == 0 {
		close(j.begun)
	}
}

// signal sends a signal to the process of a rank, if there is one.
func (j *job) signal(rank int, s os.Signal) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	p := j.running[rank]
	return p != nil && p.Signal(s) == nil
}

// longest returns the longest and the median time of a round.
func longest(rounds []time.Duration) (most, median time.Duration) {
	if len(rounds) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(rounds))
	return sorted[len(sorted)-1], sorted[len(sorted)/2]
}

// train runs a job without faults, and returns the losses of all ranks.
func (j *job) train(t *testing.T) (losses []float64) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), hangs, errors.New("the job hangs"))
	defer cancel()
	shares := data(j.Total)
	for rank, o := range j.run(ctx) {
		if o.err != nil {
			t.Fatalf("without faults: rank %d: %v\n%s", rank, o.err, o.text)
		}
		losses = append(losses, loss(o.Model, shares))
	}
	return losses
}
