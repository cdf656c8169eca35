// SPDX-License-Identifier: Apache-2.0

package rankenv

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
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const (
	// Server is the variable with the server.
	Server        = "GVW_SPAN_SERVER"
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

// launcherServerTimeout is Rank.ServerTimeout under gvw run. It is short because the server is in
// the launcher's process: if that process is gone, no other server replaces it.
const launcherServerTimeout = 2 * time.Minute

// errNone means that the environment names no job.
var errNone = errors.New(Server + " is not set: start the program by gvw run -n N -- PROGRAM, or fill in a Config")

// Rank is a rank of a job.
type Rank struct {
	Server        string // host or host:port; see Address
	Job           protocol.Job
	Total, Rank   int
	Generation    uint32
	OnLoss        protocol.OnLoss
	Listen        string            // host:port; "": all addresses
	ServerTimeout time.Duration     // 0: the library's default
	Credentials   *auth.Credentials // nil: none. With a secret of the launcher all connections are on this machine
}

// Read returns the rank that the environment describes, or all faults.
func Read(lookup func(name string) (value string, set bool)) (r Rank, errs []error) {
	get := func(name string) string {
		value, _ := lookup(name)
		return value
	}
	if get(Server) == "" {
		return r, []error{errNone}
	}
	number := func(name string, bits int, required bool) uint64 {
		text := get(name)
		if text == "" && !required {
			return 0
		}
		n, err := strconv.ParseUint(text, 10, bits)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: got %q, want a whole number of at most %d bits", name, text, bits))
		}
		return n
	}
	r = Rank{
		Job:        protocol.Job{UniqueID: number(envUniqueID, 64, false), RunKey: get(envRunID)},
		Total:      int(number(envTotal, 31, true)),
		Rank:       int(number(envRank, 31, true)),
		Generation: uint32(number(envGeneration, 32, false)),
		Server:     get(Server),
	}
	if port := get(envPort); port != "" {
		r.Server = Address(r.Server, port)
	}
	switch how := get(envOnLoss); how {
	case "", protocol.Abort.String():
	case protocol.Wait.String():
		r.OnLoss = protocol.Wait
	case protocol.Shrink.String():
		r.OnLoss = protocol.Shrink
	case protocol.Grow.String():
		r.OnLoss = protocol.Grow // of shared vectors
	default:
		errs = append(errs, fmt.Errorf("%s: got %q, want %v, %v, %v or %v", envOnLoss, how, protocol.Abort, protocol.Wait, protocol.Shrink, protocol.Grow))
	}
	if host := get(envBind); host != "" {
		r.Listen = net.JoinHostPort(strings.Trim(host, "[]"), "0")
	}
	if get(envLauncher) != "" {
		r.ServerTimeout = launcherServerTimeout
	}
	if fd := get(envSecret); fd != "" {
		secret, err := secretFromDescriptor(fd)
		if err != nil {
			errs = append(errs, err)
		}
		r.Credentials = &auth.Credentials{Secret: secret}
	}
	return r, errs
}

// Address returns the address of a server that is given as host or host:port, with another port unless that is "". The
// default port is that of spanning_tree.
func Address(server, port string) string {
	host, given, err := net.SplitHostPort(server)
	if err != nil {
		host = strings.Trim(server, "[]")
	}
	return net.JoinHostPort(host, cmp.Or(port, given, strconv.Itoa(protocol.DefaultPort)))
}

// secretFromDescriptor reads the secret of a run to its end and closes the descriptor.
func secretFromDescriptor(fd string) (*auth.Secret, error) {
	n, err := strconv.ParseUint(fd, 10, 31)
	if err != nil {
		return nil, fmt.Errorf("%s: got %q, want the number of a file descriptor", envSecret, fd)
	}
	f := os.NewFile(uintptr(n), "secret")
	b, err := io.ReadAll(io.LimitReader(f, auth.MaxSecret+1))
	err = cmp.Or(err, f.Close())
	if err == nil && len(b) == 0 {
		err = errors.New("it is empty: it has been read before")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read the secret from descriptor %s: %w", envSecret, fd, err)
	}
	return auth.NewSecret(b)
}
