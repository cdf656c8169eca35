// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const envFewDescriptors = "ALLREDUCE_TEST_DESCRIPTORS"

// TestFewDescriptorsProcess is the process of TestOtherClientsTakeAllDescriptors: a job of two ranks
// and its server. It has four descriptors left when the strangers come, and some more when their
// connections have taken all of these.
func TestFewDescriptorsProcess(t *testing.T) {
	if os.Getenv(envFewDescriptors) == "" {
		return // nothing to test here
	}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	// The bound of pending handshakes, which the job computes from the limit, becomes as low as it can be.
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 39, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	j := newTCPJob(t, 2, Config{DialTimeout: 2 * time.Minute})
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	limit := func(more int) {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(len(open) + more), Max: before.Max}); err != nil {
			t.Fatal(err)
		}
	}
	limit(4)
	for _, g := range j.groups {
		g.mesh.Accept()
	}
	fmt.Println("addresses:", j.groups[0].mesh.Addr(), j.groups[1].mesh.Addr())
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	// The two listeners share the limit: the bound of strangers may spare one of them.
	lacks := func() bool {
		return slices.ContainsFunc(j.logs, func(log *safeBuffer) bool { return strings.Contains(log.String(), "too many open files") })
	}
	for end := time.Now().Add(time.Minute); !lacks(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no listener lacks descriptors:\n%s\n%s", j.logs[0], j.logs[1])
		}
	}
	limit(24)
	j.ready()
	j.each(func(rank int) error { return j.groups[rank].AllReduce(ctx, Vec(make([]float32, 1000)), Sum) })
}

// TestOtherClientsTakeAllDescriptors opens more silent connections than a process may have
// descriptors. They must neither end a listener nor keep ranks from connecting.
func TestOtherClientsTakeAllDescriptors(t *testing.T) {
	within, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(within, os.Args[0], "-test.run=^TestFewDescriptorsProcess$", "-test.v")
	cmd.Env = append(os.Environ(), envFewDescriptors+"=1")
	var talk bytes.Buffer
	cmd.Stderr = &talk
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait() // the test reads its output below
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		addresses, ok := strings.CutPrefix(lines.Text(), "addresses: ")
		if !ok {
			continue
		}
		for _, addr := range strings.Fields(addresses) {
			for range 40 {
				c, err := net.DialTimeout("tcp", addr, time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
			}
		}
		if _, err := fmt.Fprintln(in); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v; output of the process:\n%s\n%s", err, strings.Join(said, "\n"), &talk)
	}
}

// TestLackOfDescriptorsIsALoss checks that a rank that cannot open its input for lack of
// descriptors leaves a job that recovers, and does not end it.
func TestLackOfDescriptorsIsALoss(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE} {
		act(t, Config{}, func(t *testing.T, s *stage, want [32]byte) {
			all := s.startAll()
			time.Sleep(2500 * time.Millisecond)
			left := all[1]
			left.cancel(fmt.Errorf("cannot read the input: %w", &os.PathError{Op: "open", Path: "part.1", Err: errno}))
			<-left.done
			if !errors.Is(left.err, errno) {
				t.Errorf("rank 1 ended with %v, want %v", left.err, errno)
			}
			all[1] = s.start(1, nil)
			s.end(want, all...)
		})
	}
}
