// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gvw-project/gvw/internal/cli"
)

// envNamespace is the variable that inNamespace sets in the process that it starts.
const envNamespace = "GVW_INSIDE_NETNS"

// insideNamespace reports whether this is the process that inNamespace started.
func insideNamespace(env []string) bool { return slices.Contains(env, envNamespace+"=1") }

// inNamespace runs this command again in a network namespace of its own, which has only a
// loopback interface and no traffic of others. Users other than root get it through a user
// namespace, if the kernel allows that.
func inNamespace(ctx context.Context, p *cli.Process) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program to start it in a namespace: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, p.Args...)
	cmd.Env = append(slices.Clone(p.Env), envNamespace+"=1")
	cmd.Stdout, cmd.Stderr = p.Stdout, p.Stderr
	// SIGTERM lets the inner command stop its own processes. WaitDelay kills it if that hangs.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGTERM}
	if os.Geteuid() != 0 {
		// Only root may make network namespaces. A user is root inside a new user namespace, where
		// the user ID stays the same outside.
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("--netns: this machine allows no network namespace (leave the option out): %w", err)
	}
	err = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code > 0 {
		return &cli.ExitError{Text: fmt.Sprintf("gvw bench in its network namespace: exit code %d", code), Code: code}
	}
	return err
}

// loopbackUp switches on the loopback interface of a new namespace, where it is down.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("cannot make a socket: %w", err)
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("BUG: the name of the loopback: %w", err)
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, req); err != nil {
		return fmt.Errorf("cannot read the flags of the loopback: %w", err)
	}
	req.SetUint16(req.Uint16() | unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("cannot switch on the loopback: %w", err)
	}
	return nil
}
