// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// calls counts the calls that vw makes to its learners, for --extra_metrics.
type calls struct {
	predictsFirst  bool // vw calls predict before each call of learn
	learn, predict uint64
}

// count adds the calls for one example. learns says that it is learned from, if it has a
// label.
func (n *calls) count(ex *feature.Example, learns bool) {
	learns = learns && ex.Labeled()
	if learns {
		n.learn++
	}
	if !learns || n.predictsFirst {
		n.predict++
	}
}

// predictsFirst reports whether vw calls predict before each call of learn. The learn
// of its other learners also returns the prediction.
func (c *Config) predictsFirst() bool {
	return c.Batch.BFGS || c.OAA.Classes > 0 || len(c.Data.ClassWeights) > 0 || c.FTRL.Rule == ftrl.Proximal || c.FTRL.Rule == ftrl.Coin
}

// writeExtraMetrics writes the JSON of --extra_metrics in vw's words and order. vw ends
// it without a newline.
func (r *runner) writeExtraMetrics(w io.Writer) error {
	text := fmt.Sprintf(`{"total_log_calls":%d,"extra_metrics":{"total_learn_calls":%d,"total_predict_calls":%d}`,
		r.console.hold.warnings.Load(), r.tally.calls.learn, r.tally.calls.predict)
	if c := &r.cfg; c.FTRL.Rule != ftrl.None {
		alpha, beta := c.ftrlNumbers()
		text += fmt.Sprintf(`,"%s":{"ftrl_size":%d,"ftrl_alpha":%s,"ftrl_beta":%s,"ftrl_normalized_sum_norm_x":%s,"ftrl_total_weight":%s,"ftrl_algorithm":"%s"}`,
			c.followerLearner(), len(c.FTRL.Rule.Slots()), jsonFloat(alpha), jsonFloat(beta), jsonFloat(float32(r.outcome.followed.Norm)), jsonFloat(float32(r.outcome.followed.TotalWeight)), followerNames[c.FTRL.Rule])
	}
	_, err := io.WriteString(w, text+"}")
	return err
}

// jsonFloat is x as vw writes it: with the digits of a float64, and always a fraction.
func jsonFloat(x float32) string {
	if v := float64(x); math.IsInf(v, 0) || math.IsNaN(v) {
		return "null"
	}
	text := strconv.FormatFloat(float64(x), 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
