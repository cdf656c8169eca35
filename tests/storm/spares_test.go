// SPDX-License-Identifier: Apache-2.0

//go:build unix

package storm

import (
	"bytes"
	"fmt"
	"testing"
)

// spares is the greatest number of ranks that one disturbance takes away.
const spares = 2

// TestStormWithSpares: no rank is started again, but there are spares; the job ends with the
// model of an undisturbed one.
func TestStormWithSpares(t *testing.T) {
	kinds := []string{"exit", "kill", "stop", "two killed", "SIGKILL", "SIGSTOP"}
	storm(t, max(jobs/4, 2*uint64(len(kinds))), "spares", kinds, func(o outcome, whole []byte) string {
		switch {
		case o.code != 0:
			return fmt.Sprintf("exit code %d: %s", o.code, o.last)
		case !bytes.Equal(o.model, whole):
			return "the model is another one"
		}
		return ""
	})
}
