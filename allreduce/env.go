// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
)

// The environment variables that ConfigFromEnv reads.
const (
	envServer     = "GVW_SPAN_SERVER"
	envPort       = "GVW_SPAN_SERVER_PORT"
	envUniqueID   = "GVW_UNIQUE_ID"
	envRunID      = "GVW_RUN_ID"
	envTotal      = "GVW_TOTAL"
	envRank       = "GVW_NODE"
	envGeneration = "GVW_GENERATION"
	envOnLoss     = "GVW_ON_LOSS"
	envBind       = "GVW_BIND"
	envSecret     = "GVW_SECRET_FD"
	envLauncher   = "GVW_LAUNCHER_FD"
)

// launcherServerTimeout is ServerTimeout under gvw run. It is short because the server is in
// the launcher's process: if that process is gone, no other server replaces it.
const launcherServerTimeout = 2 * time.Minute

// ErrNoEnv means that the environment names no job.
var ErrNoEnv = errors.New("allreduce: " + envServer + " is not set: start the program by gvw run -n N -- PROGRAM, or fill in a Config")

// ConfigFromEnv returns the Config that the environment describes, as gvw run -n N --
// PROGRAM sets it for each rank. lookup is os.LookupEnv, or a function like it: the
// package does not read the environment itself. The caller may change the Config before
// it calls [Join], and sets at least OnLoss if its machine is [Recoverable].
//
//	GVW_SPAN_SERVER       Server, host or host:port; required
//	GVW_SPAN_SERVER_PORT  port of Server (26543)
//	GVW_UNIQUE_ID         Job.UniqueID (0)
//	GVW_RUN_ID            Job.RunKey (none)
//	GVW_TOTAL             Total; required
//	GVW_NODE              Rank; required
//	GVW_GENERATION        Generation (0)
//	GVW_ON_LOSS           OnLoss: abort, wait or shrink (abort)
//	GVW_BIND              host part of Listen (all addresses)
//	GVW_SECRET_FD         descriptor from which the secret of Credentials is read (none)
//	GVW_LAUNCHER_FD       descriptor of the launcher's pipe: with it ServerTimeout is 2 min
//
// An empty variable counts as not set. Without GVW_SPAN_SERVER the error is [ErrNoEnv].
// The secret can be read once: a second call in the same process fails if there is one.
func ConfigFromEnv(lookup func(name string) (value string, set bool)) (Config, error) {
	get := func(name string) string {
		value, _ := lookup(name)
		return value
	}
	if get(envServer) == "" {
		return Config{}, ErrNoEnv
	}
	var errs []error
	number := func(name string, bits int, required bool) uint64 {
		text := get(name)
		if text == "" && !required {
			return 0
		}
		n, err := strconv.ParseUint(text, 10, bits)
		if err != nil {
			errs = append(errs, fmt.Errorf("allreduce: %s: got %q, want a whole number of at most %d bits", name, text, bits))
		}
		return n
	}
	c := Config{
		Server:     get(envServer),
		Job:        Job{UniqueID: number(envUniqueID, 64, false), RunKey: get(envRunID)},
		Total:      int(number(envTotal, 31, true)),
		Rank:       int(number(envRank, 31, true)),
		Generation: uint32(number(envGeneration, 32, false)),
	}
	if port := get(envPort); port != "" {
		host, _, err := net.SplitHostPort(serverAddress(c.Server))
		if err != nil {
			host = c.Server
		}
		c.Server = net.JoinHostPort(host, port)
	}
	switch how := get(envOnLoss); how {
	case "", Abort.String():
	case Wait.String():
		c.OnLoss = Wait
	case Shrink.String():
		c.OnLoss = Shrink
	default:
		errs = append(errs, fmt.Errorf("allreduce: %s: got %q, want %v, %v or %v", envOnLoss, how, Abort, Wait, Shrink))
	}
	if host := get(envBind); host != "" {
		c.Listen = net.JoinHostPort(strings.Trim(host, "[]"), "0")
	}
	if get(envLauncher) != "" {
		c.ServerTimeout = launcherServerTimeout
	}
	if fd := get(envSecret); fd != "" {
		// The launcher is on this machine, so every connection is on the loopback.
		c.NoTags = true
		secret, err := secretFromDescriptor(fd)
		if err != nil {
			errs = append(errs, err)
		}
		c.Credentials = &auth.Credentials{Secret: secret}
	}
	if err := errors.Join(errs...); err != nil {
		return Config{}, err
	}
	if err := c.Validate(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// secretFromDescriptor reads the secret of a run to its end and closes the descriptor.
func secretFromDescriptor(fd string) (*auth.Secret, error) {
	n, err := strconv.ParseUint(fd, 10, 31)
	if err != nil {
		return nil, fmt.Errorf("allreduce: %s: got %q, want the number of a file descriptor", envSecret, fd)
	}
	f := os.NewFile(uintptr(n), "secret")
	b, err := io.ReadAll(io.LimitReader(f, auth.MaxSecret+1))
	err = cmp.Or(err, f.Close())
	if err == nil && len(b) == 0 {
		err = errors.New("it is empty: it has been read before")
	}
	if err != nil {
		return nil, fmt.Errorf("allreduce: %s: cannot read the secret from descriptor %s: %w", envSecret, fd, err)
	}
	return auth.NewSecret(b)
}
