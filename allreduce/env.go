// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/gvw-project/gvw/internal/rankenv"
)

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
// An empty variable counts as not set. A program that also runs as one process
// looks GVW_SPAN_SERVER up first, without which ConfigFromEnv fails. The secret can be read
// once: a second call in the same process fails if there is one.
func ConfigFromEnv(lookup func(name string) (value string, set bool)) (Config, error) {
	r, errs := rankenv.Read(lookup)
	for i, err := range errs {
		errs[i] = fmt.Errorf("allreduce: %w", err)
	}
	if err := errors.Join(errs...); err != nil {
		return Config{}, err
	}
	c := Config{
		Server: r.Server, Job: r.Job, Total: r.Total, Rank: r.Rank, Generation: r.Generation, OnLoss: r.OnLoss,
		Listen: r.Listen, ServerTimeout: r.ServerTimeout, Credentials: r.Credentials,
		// Under a launcher whose server is on the loopback interface every connection is.
		NoTags: r.Credentials != nil && onLoopback(r.Server),
	}
	if err := c.Validate(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// onLoopback reports whether the host of an address is one of the loopback interface.
func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}
