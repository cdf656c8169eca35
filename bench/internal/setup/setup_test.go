// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"regexp"
	"strings"
	"testing"
)

func TestMachine(t *testing.T) {
	if got := Machine(); !regexp.MustCompile(`^[1-9][0-9]* CPUs, load (unknown|[0-9.]+)$`).MatchString(got) {
		t.Errorf("%q", got)
	}
}

func TestBuildNamesTheFailedPackage(t *testing.T) {
	_, err := Build(t.Context(), t.TempDir(), "nothing")
	if err == nil || !strings.HasPrefix(err.Error(), "cannot build nothing: ") {
		t.Errorf("%v", err)
	}
}
