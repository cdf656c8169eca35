// SPDX-License-Identifier: Apache-2.0

package stormnet

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// strike injects fault i of the scenario, and ends it after its duration or when ctx ends.
func (j *job) strike(ctx context.Context, i int) {
	f := j.scenario.Faults[i]
	if f.planned() != "" || !pause(ctx, f.After) {
		return
	}
	undo := j.begin(ctx, i, f)
	if f.forGood() {
		j.failed(ctx, f)
		return
	}
	pause(ctx, f.For)
	undo()
}

// pause waits for d, and returns false if ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func nothing() {}

// begin injects a fault, and returns a function that ends it.
func (j *job) begin(ctx context.Context, i int, f Fault) (undo func()) {
	filter := func(host int, in, out string) { j.filter(host, i, in, out) }
	peers := "{ "
	for h := range hosts {
		peers += hostIP(h) + ", "
	}
	peers += "}"
	mend := func() { filter(f.Host, "", "") }
	other := ""
	if f.Other >= 0 {
		other = hostIP(f.Other)
	}
	switch f.Kind {
	case Kill:
		j.signal(f.Host, unix.SIGKILL)
	case Crash:
		// A signal before main has begun ends a Go program with exit code 2, which is no crash.
		for ctx.Err() == nil && !j.reported(f.Host) {
			pause(ctx, 10*time.Millisecond)
		}
		crashes := []unix.Signal{unix.SIGQUIT, unix.SIGABRT, unix.SIGSEGV}
		j.signal(f.Host, crashes[f.Draw%uint64(len(crashes))])
	case Stop:
		pid := j.signal(f.Host, unix.SIGSTOP)
		return func() { signal(pid, unix.SIGCONT) }
	case CutAll:
		filter(f.Host, "drop", "drop")
		return mend
	case CutServer:
		filter(f.Host, "ip saddr "+gatewayIP+" drop", "ip daddr "+gatewayIP+" drop")
		return mend
	case CutPeers:
		filter(f.Host, "ip saddr "+peers+" drop", "ip daddr "+peers+" drop")
		return mend
	case CutPair:
		filter(f.Host, "ip saddr "+other+" drop", "ip daddr "+other+" drop")
		return mend
	case CutOneWay:
		filter(f.Host, "ip saddr "+other+" drop", "")
		return mend
	case Loss:
		filter(f.Host, "numgen random mod 100 < 15 drop", "")
		return mend
	case Reset:
		reset := " meta l4proto tcp reject with tcp reset"
		filter(f.Host, "ip saddr "+other+reset, "ip daddr "+other+reset)
		return mend
	case DiskFull:
		fill := filepath.Join(j.disk(hostName(f.Host)), "fill")
		_ = shell("cat /dev/zero > %s", fill) // it ends with the error "no space left"
		return func() { os.Remove(fill) }
	case ReadOnly:
		// An open file for writing prevents the remount for a moment.
		at := j.disk(hostName(f.Host))
		for ctx.Err() == nil && shell("mount -o remount,ro %s", at) != nil {
			pause(ctx, 20*time.Millisecond)
		}
		return func() { _ = shell("mount -o remount,rw %s", at) } // it fails where the other has
	case Frozen, Shared, ServerDisk:
		name := hostName(f.Host)
		if f.Kind != Frozen {
			name = map[Kind]string{Shared: everyone, ServerDisk: gateway}[f.Kind]
		}
		j.freeze(name, true)
		return func() { j.freeze(name, false) }
	case Descriptors:
		return j.exhaust(ctx, f)
	case Memory:
		limitOf(j.process(f.Host), unix.RLIMIT_AS, 1)
	case ServerStop:
		pid := j.server.Process.Pid
		signal(pid, unix.SIGSTOP)
		return func() { signal(pid, unix.SIGCONT) }
	case ServerKill:
		signal(j.server.Process.Pid, unix.SIGKILL)
		_ = j.server.Wait() // it was killed
		return j.startServer
	}
	return nothing
}

// exhaust takes away a process's descriptors and opens connections to its listener from
// another host, as a port scan does.
func (j *job) exhaust(ctx context.Context, f Fault) (undo func()) {
	pid := j.process(f.Host)
	entries, err := os.ReadDir("/proc/" + itoa(pid) + "/fd")
	if err != nil {
		return nothing // it has just ended
	}
	before, ok := limitOf(pid, unix.RLIMIT_NOFILE, uint64(len(entries)+2))
	if !ok {
		return nothing
	}
	scan := exec.CommandContext(ctx, "ip", "netns", "exec", hostName(hosts-1), os.Args[0], "-test.run=^TestScan$")
	scan.Env = append(os.Environ(), envScan+"="+hostIP(f.Host))
	if err := scan.Start(); err != nil {
		j.t.Error(err)
		return nothing
	}
	return func() {
		_ = scan.Process.Kill() // it may have ended
		_ = scan.Wait()
		limitOf(pid, unix.RLIMIT_NOFILE, before)
	}
}

// connect repeatedly opens connections to every port on which a rank may listen.
func connect(ctx context.Context, host string) {
	for ctx.Err() == nil {
		for port := rankPorts; port < rankPorts+hosts; port++ {
			if c, err := net.DialTimeout("tcp", net.JoinHostPort(host, itoa(port)), 50*time.Millisecond); err == nil {
				defer c.Close()
			}
		}
		pause(ctx, 10*time.Millisecond)
	}
}

// limitOf lowers a soft limit of a process and returns the previous one.
func limitOf(pid, resource int, to uint64) (before uint64, ok bool) {
	var old unix.Rlimit
	if pid == 0 || unix.Prlimit(pid, resource, nil, &old) != nil {
		return 0, false
	}
	set := unix.Rlimit{Cur: to, Max: old.Max}
	return old.Cur, unix.Prlimit(pid, resource, &set, nil) == nil
}

func signal(pid int, sig unix.Signal) {
	if pid > 0 {
		_ = unix.Kill(pid, sig) // it may have ended
	}
}

// signal sends a signal to the process of a rank on a host, and returns its process id, or 0
// without such a process.
func (j *job) signal(host int, sig unix.Signal) int {
	pid := j.process(host)
	signal(pid, sig)
	return pid
}

// failed starts the ranks of permanently failed hosts on spare hosts, after the time that a
// scheduler would need to detect the failure.
func (j *job) failed(ctx context.Context, f Fault) {
	if f.ofServer() || j.scenario.Abort || !pause(ctx, 2*time.Second) {
		return
	}
	affected := []int{f.Host}
	if f.Other >= 0 {
		affected = append(affected, f.Other)
	}
	for _, rank := range affected {
		j.mu.Lock()
		host := ranks + j.spares
		j.spares++
		j.mu.Unlock()
		if host < hosts {
			j.start(rank, host, true)
		}
	}
}
