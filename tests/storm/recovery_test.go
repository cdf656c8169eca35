// SPDX-License-Identifier: Apache-2.0

//go:build unix

package storm

import (
	"bytes"
	"fmt"
	"testing"
)

// TestStorm: after any disturbance of any rank, the job ends with the model of an undisturbed
// one.
func TestStorm(t *testing.T) {
	storm(t, jobs, "wait", kinds, func(o outcome, whole []byte) string {
		switch {
		case o.code != 0:
			return fmt.Sprintf("exit code %d: %s", o.code, o.last)
		case !bytes.Equal(o.model, whole):
			return "the model is another one"
		}
		return ""
	})
}
