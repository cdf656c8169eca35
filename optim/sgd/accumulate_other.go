// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || noasm

package sgd

import "github.com/gvw-project/gvw/feature"

func accumulateBoth(t *table, fs []feature.Feature, _ *ahead, g2 float32, sum sums) sums {
	return senseEach(t, fs, g2, sum)
}
