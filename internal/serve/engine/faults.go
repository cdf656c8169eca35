// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/internal/plain"
)

// Faults collects the faults of the Config of a package.
type Faults struct {
	Package string
	all     []error
}

// Check adds a fault unless ok. The text begins with the name of the field.
func (f *Faults) Check(ok bool, format string, args ...any) {
	if !ok {
		f.all = append(f.all, fmt.Errorf(f.Package+": Config."+format, args...))
	}
}

// Err returns all faults as one error, or nil if there are none.
func (f *Faults) Err() error { return errors.Join(f.all...) }

// ErrorText returns the text of an error without line feeds and control characters, as a part of an answer.
func ErrorText(err error) string { return strings.ReplaceAll(plain.Text(err.Error()), "\n", "; ") }
