// SPDX-License-Identifier: Apache-2.0

package joinflags

import (
	"cmp"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/launch"
)

// Place finds this process's rank, if it has one.
func Place(p *cli.Process, c *cli.Context) (launch.Place, bool, error) {
	at, ok, err := launch.Detect(p.LookupEnv, launch.Flags{
		Given: c.IsSet("node"), Rank: int(c.Uint64("node")), Total: int(c.Uint64("total")),
	})
	if err != nil {
		return at, ok, cli.Usagef("%w", err)
	}
	return at, ok, nil
}

// Config returns the configuration with which a process joins the job.
func Config(c *cli.Context, p launch.Place) (*allreduce.Config, error) {
	host := c.String("span_server")
	if strings.Contains(host, ":") && net.ParseIP(host) == nil {
		return nil, cli.Usagef("--span_server %s: give the host alone, and its port by --span_server_port", host)
	}
	port := uint64(DefaultServerPort)
	if c.IsSet("span_server_port") {
		port = c.Uint64("span_server_port")
	}
	cfg := &allreduce.Config{
		Server:      net.JoinHostPort(host, strconv.FormatUint(port, 10)),
		Rank:        p.Rank,
		Total:       p.Total,
		DialTimeout: min(c.Duration("start_timeout"), maxDial),
		Listen:      ListenAt(c.String("bind"), c.String("port_range")),
		SlowFactor:  slowFactor(c),
	}
	if err := cli.SetFields(c, flags.JobSpecs(), flags.JobPrefix, cfg); err != nil {
		return nil, err
	}
	return cfg, nil
}

// maxDial is how long the server is tried at most, as vw does; less where all ranks must come
// sooner.
const maxDial = 100 * time.Second

// defaultSlowFactor is how many times slower than the others a rank is that yields.
const defaultSlowFactor = 2

// slowFactor is 0 where no rank can yield to another attempt.
func slowFactor(c *cli.Context) float64 {
	switch {
	case flags.OnLoss(c.String("on_loss")) == allreduce.Abort:
		return 0
	case c.IsSet("slow_factor"):
		return c.Float64("slow_factor")
	}
	return defaultSlowFactor
}

// ListenAt is where this rank listens for others.
func ListenAt(host, ports string) string {
	return net.JoinHostPort(strings.Trim(host, "[]"), cmp.Or(ports, "0"))
}

// DefaultServerPort is vw's.
const DefaultServerPort = 26543
