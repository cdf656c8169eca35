// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
)

// vwPeer measures vw's all-reduce, over TCP, through our server.
type vwPeer struct {
	cfg    Config
	dir    string
	passes map[int]int // by size in bytes: enough passes for a measurable difference
}

// fewPasses is the length of the short jobs, which longer ones are compared with. A difference
// of passEnough is large enough to measure. maxPasses bounds the search.
const (
	fewPasses  = 2
	passEnough = 500 * time.Millisecond
	maxPasses  = 20_000
)

func vw(ctx context.Context, cfg Config) (system, error) {
	if cfg.Transport != "tcp" {
		return nil, &missingError{"vw", "it has no transport but tcp"}
	}
	if err := grouped(exec.CommandContext(ctx, cfg.Python, "-m", "vowpalwabbit", "--version")).Run(); err != nil {
		return nil, &missingError{"vw", "not installed for " + cfg.Python + " (pip install vowpalwabbit==9.11.9, and name the interpreter by --python)"}
	}
	dir, err := os.MkdirTemp("", "gvw-bench-")
	if err != nil {
		return nil, err
	}
	v := &vwPeer{cfg: cfg, dir: dir, passes: map[int]int{}}
	if err := os.WriteFile(v.file("data"), []byte("1 | a\n"), 0o644); err != nil {
		return nil, errors.Join(err, v.close())
	}
	return v, nil
}

func (v *vwPeer) name() (string, string)  { return "vw", "" }
func (v *vwPeer) close() error            { return os.RemoveAll(v.dir) }
func (v *vwPeer) file(name string) string { return filepath.Join(v.dir, name) }

// turn measures one batch of each size that vw supports: 2^b weights.
func (v *vwPeer) turn(ctx context.Context) ([]Batch, error) {
	var batches []Batch
	for _, size := range v.cfg.Sizes {
		if size < 8 || bits.OnesCount(uint(size)) != 1 {
			continue
		}
		b, err := v.batch(ctx, size)
		if err != nil {
			return nil, err
		}
		batches = append(batches, b)
	}
	return batches, nil
}

// batch returns the cost of the passes beyond those of a short job.
func (v *vwPeer) batch(ctx context.Context, size int) (Batch, error) {
	fewWall, fewCPU, err := v.job(ctx, size, fewPasses)
	if err != nil {
		return Batch{}, err
	}
	more := max(v.passes[size], 20)
	for {
		wall, cpu, err := v.job(ctx, size, fewPasses+more)
		if err != nil {
			return Batch{}, err
		}
		if wall-fewWall < passEnough && more < maxPasses {
			more = min(8*more, maxPasses)
			continue
		}
		v.passes[size] = more
		per := func(d time.Duration) float64 {
			return max(float64(d)/float64(time.Microsecond)/float64(more), 0.001)
		}
		return Batch{Bytes: size, Calls: more, US: per(wall - fewWall), CPU: per(cpu - fewCPU)}, nil
	}
}

// job runs a job of plain SGD, each of whose passes ends with one all-reduce of the weights,
// and returns its duration.
func (v *vwPeer) job(ctx context.Context, size, passes int) (wall, cpu time.Duration, err error) {
	s, err := serve(ctx, transport.TCP, nil)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_, port, _ := strings.Cut(s.addr, ":")
	cmds := make([]*exec.Cmd, v.cfg.Ranks)
	errs := make([]error, len(cmds))
	var ranks sync.WaitGroup
	begun := time.Now()
	for rank := range cmds {
		args := []string{
			"-m", "vowpalwabbit", "-d", v.file("data"), "--sgd", "-b", strconv.Itoa(bits.TrailingZeros(uint(size / 4))),
			"--passes", strconv.Itoa(passes), "--cache_file", v.file(fmt.Sprintf("cache.%d", rank)), "-k", "--holdout_off",
			"--noconstant", "--quiet", "--span_server", "127.0.0.1", "--span_server_port", port,
			"--unique_id", strconv.FormatUint(s.job>>1, 10), "--total", strconv.Itoa(v.cfg.Ranks), "--node", strconv.Itoa(rank),
		}
		cmd := grouped(exec.CommandContext(ctx, v.cfg.Python, args...))
		cmds[rank] = cmd
		ranks.Go(func() {
			var talk bytes.Buffer
			cmd.Stdout, cmd.Stderr = &talk, &talk
			if err := cmd.Run(); err != nil {
				errs[rank] = fmt.Errorf("rank %d of vw: %w: %s", rank, err, lastWords(talk.String()))
				cancel() // the other workers would wait without a limit
			}
		})
	}
	ranks.Wait()
	wall = time.Since(begun)
	for _, cmd := range cmds {
		if p := cmd.ProcessState; p != nil {
			cpu += p.UserTime() + p.SystemTime()
		}
	}
	return wall, cpu, errors.Join(errs...)
}
