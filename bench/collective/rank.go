// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Schedules returns the valid values of Config.Schedules.
func Schedules() []string {
	names := []string{schedule.Auto.String()}
	for _, n := range schedule.Names {
		names = append(names, n.String())
	}
	return names
}

// task describes the work of one rank.
type task struct {
	Server     string        `json:"server"`
	Job        uint64        `json:"job"`
	Rank       int           `json:"rank"`
	Total      int           `json:"total"`
	Schedule   string        `json:"schedule"`
	NoChecksum bool          `json:"no_checksum,omitempty"`
	Shared     bool          `json:"shared,omitempty"` // whether shared memory must be used, or must not be
	Verbs      bool          `json:"verbs,omitempty"`
	Alloc      bool          `json:"alloc,omitempty"` // vectors come from allreduce.Alloc
	Sizes      []int         `json:"sizes"`
	PerSize    time.Duration `json:"per_size"`
	TraceDir   string        `json:"trace_dir,omitempty"`
	TLS        [3]string     `json:"tls,omitzero"`     // file names: certificate, key, authority
	Secret     string        `json:"secret,omitempty"` // file name
}

// Serve runs one rank in a process of its own. text is the task that Run has appended to
// Config.Self. Rank 0 writes its batches to w.
func Serve(ctx context.Context, text string, w io.Writer) error {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return fmt.Errorf("collective: %q is no task of a rank: %w", text, err)
	}
	enc := json.NewEncoder(w)
	return t.run(ctx, nil, cpuTime, func(b Batch) error { return enc.Encode(b) })
}

// run joins the job and measures every size.
func (t task) run(ctx context.Context, n transport.Network, cpu func() time.Duration, emit func(Batch) error) (err error) {
	cfg, err := t.group(n)
	if err != nil {
		return err
	}
	g, err := allreduce.Join(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			g.Fail(ctx, err)
		}
		if cerr := g.Close(); err == nil {
			err = cerr
		}
	}()
	if err := g.Ready(ctx, protocol.Shard{}); err != nil {
		return err
	}
	if t.Shared && !g.SharedMemory() {
		return fmt.Errorf("collective: rank %d: the ranks share no memory (the log says why): measure --transport tcp", t.Rank)
	}
	if t.Verbs && g.Verbs() == "" {
		return fmt.Errorf("BUG: collective: rank %d: no bytes go over verbs", t.Rank)
	}
	m := meter{group: g, per: t.PerSize, cpu: cpu, emit: emit, vector: func(n int) ([]float32, error) {
		if t.Alloc {
			return allreduce.Alloc[float32](g, n)
		}
		return make([]float32, n), nil
	}}
	for _, bytes := range t.Sizes {
		if err := m.size(ctx, bytes); err != nil {
			return err
		}
	}
	return g.Done(ctx)
}

// group returns the configuration of the rank's group. It sets only what differs from a
// training job.
func (t task) group(n transport.Network) (allreduce.Config, error) {
	name, err := schedule.ParseName(t.Schedule)
	if err != nil {
		return allreduce.Config{}, fmt.Errorf("collective: %w", err)
	}
	how := allreduce.TransportTCP
	if t.Verbs {
		how = allreduce.TransportVerbs
	}
	var creds *auth.Credentials
	if t.TLS[0] != "" {
		tls, err := auth.ReadTLS(t.TLS[0], t.TLS[1], t.TLS[2])
		if err != nil {
			return allreduce.Config{}, fmt.Errorf("collective: rank %d: %w", t.Rank, err)
		}
		creds = &auth.Credentials{TLS: tls}
	}
	if t.Secret != "" {
		secret, err := auth.ReadSecret(t.Secret)
		if err != nil {
			return allreduce.Config{}, fmt.Errorf("collective: rank %d: %w", t.Rank, err)
		}
		creds = &auth.Credentials{Secret: secret}
	}
	return allreduce.Config{
		Credentials: creds,
		Server:      t.Server, Job: protocol.Job{UniqueID: t.Job}, Rank: t.Rank, Total: t.Total,
		Options: "bench", Schedule: name, Network: n, NoChecksum: t.NoChecksum, NoSharedMemory: !t.Shared, Transport: how, TraceDir: t.TraceDir,
		// Thousands of ranks on one machine start slowly and must not be declared lost.
		LostAfter: time.Minute,
	}, nil
}
