// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// TestClientsFillTheMemory: clients that open one job after the other, each of the maximal
// size, are refused with an error that names --max_memory when it is used up. The server's
// memory stays within the limit, its members stay connected, and when they leave there is room
// again.
func TestClientsFillTheMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	const mib = 32 // the least permitted value
	port, pid := startServerPID(t, "--max_memory", "32", "--max_jobs", "100000")
	before := vitalsOf(t, pid)
	join := func(id int) (*client.Member, error) {
		return client.Join(t.Context(), client.JoinConfig{
			Server: "127.0.0.1:" + port, Job: protocol.Job{UniqueID: uint64(id)}, Rank: 0, Total: 2, Advertise: ":30000",
			Options: strings.Repeat("x", 16<<10), StartTimeout: time.Hour, Heartbeat: time.Minute, LostAfter: time.Hour,
		})
	}
	var in []*client.Member
	leave := func() {
		for _, m := range in {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
		in = nil
	}
	t.Cleanup(leave)
	for {
		m, err := join(len(in))
		if no, ok := errors.AsType[*protocol.RefusedError](err); ok && no.Code == protocol.ServerFull && strings.Contains(err.Error(), "memory for clients is full") {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if in = append(in, m); len(in) > mib<<20/(32<<10) {
			t.Fatalf("%d jobs have room in %d MiB, each with a connection and 16 KiB of options", len(in), mib)
		}
	}
	full := vitalsOf(t, pid)
	t.Logf("%d jobs filled %d MiB; the server: %+v (before: %+v)", len(in), mib, full, before)
	// The garbage collector keeps at most as much again.
	if most := before.peak + 2*mib<<10; full.peak > most {
		t.Errorf("the server took %d KiB, want at most %d", full.peak, most)
	}
	for i, m := range in {
		if m.Cause() != nil {
			t.Fatalf("job %d is over: %v", i, m.Cause())
		}
	}
	leave()
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		m, err := join(0)
		if err == nil {
			in = append(in, m)
			return
		}
		if time.Now().After(end) {
			t.Fatalf("they have gone, and there is no room: %v", err)
		}
	}
}
