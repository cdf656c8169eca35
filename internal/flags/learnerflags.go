// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/learn"
)

// learnerField is the field of learn.Config with the options of composed learners.
const learnerField = "Learner.Options"

// learnerFlags returns a row for each option of the learners in learn's table.
func learnerFlags() []*cli.Spec {
	kinds := map[string]func(*cli.Spec){
		"flag":   func(s *cli.Spec) { s.Kind = cli.Boolean },
		"count":  func(s *cli.Spec) { s.Kind = cli.Integer },
		"number": func(s *cli.Spec) { s.Kind = cli.Float },
		"word":   func(s *cli.Spec) { s.Kind = cli.Text },
		"words":  func(s *cli.Spec) { s.Kind = cli.List },
	}
	var specs []*cli.Spec
	for _, o := range learn.LearnerOptions() {
		s := &cli.Spec{Name: o.Name, About: learnerField, Category: catUpdate, Arg: o.Arg, Help: o.Help, Def: o.Default, Choices: o.Choices, More: true}
		if o.Name != o.Learner {
			s.Help = "with --" + o.Learner + ": " + o.Help
		}
		kinds[o.Values](s)
		specs = append(specs, s)
	}
	return specs
}

// LearnerConfig returns the options of composed learners of a command line.
func LearnerConfig(c *cli.Context) learn.LearnerConfig {
	var cfg learn.LearnerConfig
	for _, s := range Learn {
		if s.About != learnerField || !c.IsSet(s.Name) {
			continue
		}
		if cfg.Options == nil {
			cfg.Options = map[string][]string{}
		}
		words := []string{"true"}
		if s.Kind != cli.Boolean {
			words = s.WordsOf(c)
		}
		cfg.Options[s.Name] = words
	}
	return cfg
}
