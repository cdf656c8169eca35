// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/internal/rankenv"
)

// ConfigFromEnv returns the Config that the environment describes, as gvw run -n N -- PROGRAM sets it for each
// rank. lookup is os.LookupEnv, or a function like it. The variables are those of allreduce.ConfigFromEnv. Without
// GVW_SPAN_SERVER it fails: a program that also runs as one process looks this variable up first. The secret can be read
// once: a second call in the same process fails if there is one.
func ConfigFromEnv(lookup func(name string) (value string, set bool)) (Config, error) {
	r, errs := rankenv.Read(lookup)
	for i, err := range errs {
		errs[i] = fmt.Errorf("malt: %w", err)
	}
	if err := errors.Join(errs...); err != nil {
		return Config{}, err
	}
	c := Config{
		Server: rankenv.Address(r.Server, ""), Job: r.Job, Total: r.Total, Rank: r.Rank, OnLoss: r.OnLoss,
		Listen: r.Listen, ServerTimeout: r.ServerTimeout, Credentials: r.Credentials,
	}
	return c, c.Validate()
}
