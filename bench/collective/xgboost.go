// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"context"
	_ "embed"
	"os/exec"
	"strconv"
)

//go:embed peer/xgboost.py
var xgboostSource string

// xgboostPeer measures XGBoost's collective, over TCP.
type xgboostPeer struct{ cfg Config }

func xgboost(ctx context.Context, cfg Config) (system, error) {
	if cfg.Transport != "tcp" {
		return nil, &missingError{"xgboost", "its collective has no transport but tcp"}
	}
	if err := grouped(exec.CommandContext(ctx, cfg.Python, "-c", "import xgboost.collective, numpy")).Run(); err != nil {
		return nil, &missingError{"xgboost", "not installed for " + cfg.Python + " (pip install xgboost, and name the interpreter by --python)"}
	}
	return &xgboostPeer{cfg}, nil
}

func (x *xgboostPeer) name() (string, string) { return "xgboost", "" }
func (x *xgboostPeer) close() error           { return nil }

func (x *xgboostPeer) turn(ctx context.Context) ([]Batch, error) {
	return program(ctx, grouped(exec.CommandContext(ctx, x.cfg.Python, "-c", xgboostSource, strconv.Itoa(x.cfg.Ranks),
		sizesArg(x.cfg.Sizes), strconv.FormatInt(x.cfg.PerSize.Milliseconds(), 10))))
}
