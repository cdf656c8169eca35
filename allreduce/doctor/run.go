// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gvw-project/gvw/allreduce/address"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Run examines the network together with the other ranks. Faults of the network are in the
// report; an error means that the examination failed.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	at, err := address.Parse(cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("doctor: rank %d: Listen: %w", cfg.Rank, err)
	}
	l, err := at.Listen(ctx, cfg.Network, address.Machine)
	if err != nil {
		return nil, fmt.Errorf("doctor: rank %d: cannot listen for other ranks: %w", cfg.Rank, err)
	}
	defer l.Close()
	told, err := address.Advertise(cfg.Advertise, l.Addr(), address.Machine)
	if err != nil {
		return nil, fmt.Errorf("doctor: rank %d: Advertise: %w", cfg.Rank, err)
	}
	m, err := client.Join(ctx, client.JoinConfig{
		Network: cfg.Network, Server: cfg.Server, Credentials: cfg.Credentials, Job: cfg.Job, Rank: cfg.Rank, Total: cfg.Total,
		Advertise: told, Options: "doctor", Version: cfg.Version,
		DialTimeout: cfg.DialTimeout, StartTimeout: cfg.StartTimeout, Log: cfg.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("doctor: rank %d: %w", cfg.Rank, err)
	}
	report, err := attend(ctx, cfg, m, func(w *client.Wiring) *exam { return newExam(cfg, l, w) })
	return report, errors.Join(err, m.Close())
}

// attend takes part in an examination, from its start to its end.
func attend(ctx context.Context, cfg Config, m *client.Member, begin func(*client.Wiring) *exam) (*Report, error) {
	w, err := m.Ready(ctx, protocol.Shard{})
	switch {
	case err != nil:
		return nil, fmt.Errorf("doctor: rank %d: cannot start the examination: %w", cfg.Rank, err)
	case w.Stream:
		return nil, fmt.Errorf("doctor: rank %d: the server at %s is vw's, which does not distribute the ranks' addresses: start gvw's spanning_tree", cfg.Rank, cfg.Server)
	}
	e := begin(w)
	defer e.end()
	ctx, cancel := context.WithTimeout(ctx, cfg.limit())
	defer cancel()
	report := e.examine(ctx)
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("doctor: rank %d: %w", cfg.Rank, err)
	}
	// No rank leaves while others measure. The loss of a rank shows on its paths.
	if _, err := m.Complete(ctx, [32]byte{}, nil); err == nil {
		_ = m.Finish(ctx) // all have completed: the findings are valid without it
	}
	return report, nil
}

// limit bounds the whole examination: each round measures both directions of a pair.
func (c Config) limit() time.Duration {
	return time.Minute + time.Duration(2*c.Total+10)*c.turn()
}

// turn bounds the measurements of one path.
func (c Config) turn() time.Duration { return 4*c.Patience + time.Second }
