// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || noasm

package sgd

import "github.com/gvw-project/gvw/feature"

func dot4(t *table, fs []feature.Feature, _ *ahead, p, _ float32) float32 { return dotEach(t, fs, p) }

func apply4(t *table, fs []feature.Feature, _ *ahead, u float32) { applyEach(t, fs, u) }

func dot1(t *table, fs []feature.Feature, _ *ahead, p, _ float32) float32 {
	return dotOneEach(t, fs, p)
}
