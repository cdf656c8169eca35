// SPDX-License-Identifier: Apache-2.0

//go:build unix

package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/gvw-project/gvw/internal/launch"
)

// keeperGrace is the time between the signal to a worker and killing it.
const keeperGrace = 6 * time.Second

// Keep runs the worker of an order from in until it has ended, and writes its end to a file of dir. The end of ctx ends the
// worker. self is the path of this program, env the environment of the worker, out its output.
func Keep(ctx context.Context, in io.Reader, dir, self string, env []string, out io.Writer) error {
	syscall.CloseOnExec(3) // the lock is the keeper's alone
	var order Order
	if err := json.NewDecoder(in).Decode(&order); err != nil {
		return fmt.Errorf("the order: %w", err)
	}
	worker := exec.Command(self, order.Args...)
	worker.Env = append(launch.ShareProcessors(env, order.Ranks, order.Threads), launch.EnvAttempt+"="+strconv.Itoa(order.Attempt))
	worker.Stdout, worker.Stderr = out, out
	results, _, err := launch.Job{Grace: keeperGrace, Secret: order.Secret}.Run(ctx, []*exec.Cmd{worker})
	end := End{Code: 126}
	switch {
	case err != nil:
		end.Error = err.Error()
	case results[0].Err != nil:
		end.Error = results[0].Err.Error()
	default:
		end = End{Code: results[0].Code}
		if sig, ok := results[0].Signal.(syscall.Signal); ok {
			end.Signal = int(sig)
		}
	}
	text, err := json.Marshal(end)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, endFile)
	if err := os.WriteFile(name+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
