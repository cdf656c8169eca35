// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"errors"
	"io"

	"github.com/gvw-project/gvw/allreduce"
)

// Enlist makes this process a spare of the job that cfg says, whatever Cluster.Rank is: see
// allreduce.Enlist. It returns when the process has been given the rank of a lost one. Then
// Run, with the returned Group and what else belongs to the rank (Inputs, Cache, names of
// files), does what the lost one would. Of what a spare does not know before it has a
// rank, nothing but Inputs is looked at here, and that only for being there.
func Enlist(ctx context.Context, cfg Config) (*allreduce.Group, error) {
	if cfg.Cluster == nil {
		return nil, errors.New("learn: a spare needs Cluster: which job it is a spare of")
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	if cfg.InitialModel != "" || cfg.FeatureMask != "" {
		in, err := loadModel(&cfg, io.Discard) // its options are the job's, too
		if err != nil {
			return nil, err
		}
		if err := in.file.Close(); err != nil {
			return nil, err
		}
	}
	if cfg.InputRegularizer != "" {
		if _, _, err := loadRegularizer(&cfg, io.Discard); err != nil {
			return nil, err
		}
	}
	cfg.settleHoldout()
	rule, err := cfg.updateRule()
	if err != nil {
		return nil, err
	}
	return allreduce.Enlist(ctx, cfg.member(rule))
}
