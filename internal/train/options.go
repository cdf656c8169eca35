// SPDX-License-Identifier: Apache-2.0

package train

import (
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/learn"
)

// Config returns the learner's configuration for a command line. The caller adds inputs,
// outputs, diagnostics and the job.
func Config(c *cli.Context) (learn.Config, error) {
	var cfg learn.Config
	if err := cli.SetFields(c, flags.LearnerSpecs(), "", &cfg); err != nil {
		return learn.Config{}, err
	}
	cfg.Learner = flags.LearnerConfig(c)
	cfg.Reg.OutputOnAnyRank = c.IsSet("output_feature_regularizer_binary") || c.IsSet("output_feature_regularizer_text")
	return cfg, nil
}
