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
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/logformat"
)

// Place returns the rank of this process and reports whether it has one. The rank is that of
// --node; an error is a UsageError.
func Place(p *cli.Process, c *cli.Context) (launch.Place, bool, error) {
	at, ok, err := launch.Detect(p.LookupEnv, launch.Flags{
		Given: c.IsSet("node"), Rank: int(c.Uint64("node")), Total: int(c.Uint64("total")),
		From: "--node and --total",
	})
	if err != nil {
		return at, ok, cli.Usagef("%w", err)
	}
	return at, ok, nil
}

// Config returns the configuration with which a process joins the job, without credentials: see
// Guard. Rows of flags.JobSpecs set fields by their names; the others are set here, because
// they combine several options.
func Config(c *cli.Context, p launch.Place) (*allreduce.Config, error) {
	host := c.String("span_server")
	if strings.Contains(host, ":") && net.ParseIP(host) == nil {
		return nil, cli.Usagef("--span_server %s: give only the host, and its port by --span_server_port", host)
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
	cfg.TraceDir = files.LocalPath(cfg.TraceDir)
	return cfg, nil
}

// TakeServerLog makes the log lines of the process go to the server, too, if --log_to_server is given. Loggers that the process
// has made before do not send theirs.
func TakeServerLog(p *cli.Process, c *cli.Context, cfg *allreduce.Config) {
	if !c.Bool("log_to_server") {
		return
	}
	lines, again := p.LogCopy.(*allreduce.ServerLog) // of a process that has joined before it knew its inputs
	if !again {
		lines = &allreduce.ServerLog{JSON: p.LogFormat == logformat.JSON}
		p.LogCopy = lines
	}
	cfg.ServerLog = lines
}

// maxDial bounds the time for which a rank tries to reach the server, as in vw. A shorter
// --start_timeout bounds it, too.
const maxDial = 100 * time.Second

// defaultSlowFactor is the default of --slow_factor: a rank that takes more than twice the
// median time per byte of its data is a straggler.
const defaultSlowFactor = 2

// slowFactor returns --slow_factor, or 0 (no rank counts as a straggler) if the job replaces no
// rank.
func slowFactor(c *cli.Context) float64 {
	switch {
	case flags.OnLoss(c.String("on_loss")) == allreduce.Abort:
		return 0
	case c.IsSet("slow_factor"):
		return c.Float64("slow_factor")
	}
	return defaultSlowFactor
}

// ListenAt returns the listening address for --bind and --port_range. Empty texts stand for all
// interfaces and any free port.
func ListenAt(host, ports string) string {
	return net.JoinHostPort(strings.Trim(host, "[]"), cmp.Or(ports, "0"))
}

// DefaultServerPort is the port of vw's spanning_tree.
const DefaultServerPort = 26543
