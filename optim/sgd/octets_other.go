// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || noasm

package sgd

import "github.com/gvw-project/gvw/feature"

func dots4(scores []float32, cells [][4]float32, fs []feature.Feature, initial float32) {
	dotsEach(scores, cells, fs, initial)
}
