// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package statusline

import (
	"errors"
	"os"
)

// Keys is not supported on this system.
func Keys(*os.File) (restore func() error, err error) {
	return nil, errors.New("single keys cannot be read on this system")
}
