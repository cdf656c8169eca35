// SPDX-License-Identifier: Apache-2.0

//go:build unix

package storm

import (
	"bytes"
	"fmt"
	"testing"
)

// spares are as many as any disturbance takes ranks away.
const spares = 2

// TestStormWithSpares: nobody is started again, but there are spares; the job ends with the model
// that it would have made undisturbed.
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
