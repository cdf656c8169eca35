// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestErrorLines(t *testing.T) {
	err := errors.Join(errors.New("the\ncause"), fmt.Errorf("wrapped: %w", errors.Join(errors.New("a"), errors.New("b"))), errors.New("cleaning up"))
	want := "cleaning up|wrapped: a b|the cause"
	if got := strings.Join(ErrorLines(err), "|"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
