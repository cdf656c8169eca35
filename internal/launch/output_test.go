// SPDX-License-Identifier: Apache-2.0

//go:build unix

package launch

import (
	"bytes"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// If a worker leaves a process behind that holds its output open, Run waits for the output no
// longer than WaitDelay. With EmptyStdin the worker's Stdin is empty.
func TestOutputOfALeftProcess(t *testing.T) {
	var out bytes.Buffer
	cmd := exec.Command("sh", "-c", "cat; sleep 1000 & echo $! $GVW_LAUNCHER_FD $GVW_SECRET_FD")
	cmd.Stdout, cmd.WaitDelay = &out, time.Second
	results, root, err := Job{EmptyStdin: true, Secret: []byte("a secret")}.Run(t.Context(), []*exec.Cmd{cmd})
	if err != nil || root != -1 || results[0].Code != 0 {
		t.Errorf("got %+v, root %d, %v: want success", results, root, err)
	}
	words := strings.Fields(out.String())
	if len(words) != 3 || words[1] != "3" || words[2] != "4" {
		t.Fatalf("got %q: want a process number, descriptors 3 and 4, and nothing from Stdin", out.String())
	}
	if pid, err := strconv.Atoi(words[0]); err != nil || syscall.Kill(pid, syscall.SIGKILL) != nil {
		t.Errorf("cannot kill the process %s that was left behind", words[0])
	}
}
