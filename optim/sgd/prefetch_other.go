// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || noasm

package sgd

import "github.com/gvw-project/gvw/feature"

func (t *table) prefetch([]feature.Feature) {}

func prefetchBuckets(*uint64, int, []feature.Feature) {}
