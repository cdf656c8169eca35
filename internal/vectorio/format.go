// SPDX-License-Identifier: Apache-2.0

package vectorio

import (
	"fmt"
	"slices"
)

// SetDefaults fills in the type of elements, f64, and the limit of a vector in bytes, 1 GiB.
func SetDefaults(element *string, most *int) {
	if *element == "" {
		*element = "f64"
	}
	if *most == 0 {
		*most = 1 << 30
	}
}

// CheckType returns the fault of a field Type that is none of types, or nil.
func CheckType(element string, types []string) error {
	if !slices.Contains(types, element) {
		return fmt.Errorf("pipe: Type: got %q, want one of %v", element, types)
	}
	return nil
}

// CheckMax returns the fault of a field MaxVector that is negative, or nil.
func CheckMax(most int) error {
	if most < 0 {
		return fmt.Errorf("pipe: MaxVector: got %d, want 0 or more", most)
	}
	return nil
}
