// SPDX-License-Identifier: Apache-2.0

package background

import (
	"errors"
	"fmt"
	"os"
)

// Start returns an error: without fork or sessions there is no background server.
func (p *Program) Start() (code, port int, err error) {
	return 0, 0, fmt.Errorf("the server cannot run in the background on Windows, add %s: %w", p.Foreground, errors.ErrUnsupported)
}

// Child reports that this process is not a background child.
func (p *Program) Child() (ready func(int, *os.File), child bool) {
	return func(int, *os.File) {}, false
}

// IgnoreBrokenPipes does nothing: Windows has no SIGPIPE.
func IgnoreBrokenPipes() {}
