// SPDX-License-Identifier: Apache-2.0

package learn

import "github.com/gvw-project/gvw/optim/ftrl"

// ftrlNumbers returns α and β of the FTRL family.
func (c *Config) ftrlNumbers() (alpha, beta float32) {
	alpha, beta = c.FTRL.Rule.Defaults()
	return c.FTRL.Alpha.Or(alpha), c.FTRL.Beta.Or(beta)
}

// follower is the FTRL rule that a kept option or the command line names.
func (c *Config) follower() string { return "--" + c.FTRL.Rule.String() }

// validateFTRL looks whether the options of the FTRL family make sense.
func (c *Config) validateFTRL(fault func(option, format string, args ...any)) {
	if c.FTRL.Rule == ftrl.None {
		return
	}
	name := c.follower()
	if c.Cluster.Join != nil {
		fault(name, "it is for one process: its weights follow from sums of gradients that have no average over ranks (vw's ranks train apart without a word); use the default rule")
	}
	if c.Batch.BFGS || c.Hybrid != nil {
		fault(name, "it is a learner of its own: leave --bfgs and --hybrid out")
	}
	for _, o := range []struct {
		name  string
		value float32
	}{{"--ftrl_alpha", c.FTRL.Alpha.Value}, {"--ftrl_beta", c.FTRL.Beta.Value}} {
		if o.value < 0 {
			fault(o.name, "%g is negative", o.value)
		}
	}
}

// followerNames are vw's names of the FTRL family.
var followerNames = map[ftrl.Rule]string{ftrl.Proximal: "Proximal-FTRL", ftrl.Pistol: "PiSTOL", ftrl.Coin: "Coin Betting"}

// followerLearner returns vw's name of the learner, which depends on --audit and
// --invert_hash.
func (c *Config) followerLearner() string {
	name := "ftrl-" + followerNames[c.FTRL.Rule]
	if c.named() {
		name += "-audit"
	}
	return name
}

// followBanner adds vw's lines on the family, and returns the learner's name.
func (r *runner) followBanner(b *banner) string {
	c := &r.cfg
	name := followerNames[c.FTRL.Rule]
	alpha, beta := c.ftrlNumbers()
	b.addf("Enabling FTRL based optimization")
	b.addf("Algorithm used: %s", name)
	b.addf("ftrl_alpha = %.6g", alpha)
	b.addf("ftrl_beta = %.6g", beta)
	return c.followerLearner()
}
