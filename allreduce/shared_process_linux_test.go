// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
)

const envSharedRank = "ALLREDUCE_TEST_RANK" // rank@server

// sharedProcesses is how many processes TestARankIsKilled starts.
const sharedProcesses = 4

// TestRankProcess is a rank in a process of its own: it sums until it fails.
func TestRankProcess(t *testing.T) {
	rank, server, ok := strings.Cut(os.Getenv(envSharedRank), "@")
	if !ok {
		return // nothing to test here: this is a process of TestARankIsKilled
	}
	n, err := strconv.Atoi(rank)
	if err != nil {
		t.Fatal(err)
	}
	g, err := Join(ctx, Config{
		Server: server, Job: Job{UniqueID: 9}, Rank: n, Total: sharedProcesses, Listen: "127.0.0.1:0",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	v := make([]float32, 1<<20)
	for i := 0; ; i++ {
		if err := g.AllReduce(ctx, Vec(v), Sum); err != nil {
			fmt.Println("failed:", err)
			return
		}
		if i == 0 {
			fmt.Println("shared:", g.SharedMemory())
		}
	}
}

// TestARankIsKilled kills a rank in the middle of a sum in shared memory. The others must end at
// once and name it.
func TestARankIsKilled(t *testing.T) {
	const victim = 2
	server := startServer(t, transport.TCP, "127.0.0.1:0")
	within, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var cmds [sharedProcesses]*exec.Cmd
	var outs [sharedProcesses]*bufio.Reader
	var talk [sharedProcesses]bytes.Buffer
	for rank := range cmds {
		cmd := exec.CommandContext(within, os.Args[0], "-test.run=^TestRankProcess$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d@%s", envSharedRank, rank, server))
		cmd.Stderr = &talk[rank]
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds[rank], outs[rank] = cmd, bufio.NewReader(out)
	}
	for rank, out := range outs {
		if line, err := out.ReadString('\n'); err != nil || line != "shared: true\n" {
			t.Errorf("rank %d: got %q, %v, want shared memory; %s", rank, line, err, &talk[rank])
		}
	}
	if err := cmds[victim].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for rank, out := range outs {
		line, err := out.ReadString('\n')
		if rank != victim && (err != nil || !strings.HasPrefix(line, "failed: ") || !strings.Contains(line, "lost rank 2 ")) {
			t.Errorf("rank %d: got %q, %v, want the loss of rank 2; %s", rank, line, err, &talk[rank])
		}
		for err == nil { // the test framework's words
			_, err = out.ReadString('\n')
		}
		cmds[rank].Wait() // the killed one returns an error
	}
}
