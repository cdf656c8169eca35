// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"testing"
)

// TestTheTutorialShowsTheCode compares the listing in docs/learners.md with the file that it shows.
func TestTheTutorialShowsTheCode(t *testing.T) {
	_, code, ok := bytes.Cut(read(t, "maltsvm.go"), []byte("// svmShared"))
	if !ok {
		t.Fatal("maltsvm.go does not declare svmShared")
	}
	listing := append([]byte("```go\n// svmShared"), code...)
	if !bytes.Contains(read(t, "../../docs/learners.md"), append(listing, "```\n"...)) {
		t.Error("docs/learners.md does not show maltsvm.go as it is: copy the lines from svmShared on")
	}
}
