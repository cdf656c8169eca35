// SPDX-License-Identifier: Apache-2.0

package malt

import "github.com/gvw-project/gvw/malt/internal/pace"

// CheckSync reports whether a text is a synchrony for ObjectConfig.Sync. A program can check an option by it before it
// joins a job.
func CheckSync(text string) error {
	if text == "" {
		return nil
	}
	_, _, err := pace.ParseMode(text)
	return err
}
