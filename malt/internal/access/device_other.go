// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package access

import "github.com/gvw-project/gvw/allreduce/verbs"

func openFar(verbs.Library, verbs.Place) (device, error) { return nil, verbs.ErrNotBuilt }
