// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"

	"github.com/gvw-project/gvw/malt"
)

// factorShared are the shared rows.
type factorShared struct{ sharedUsers, sharedItems *sharedRows }

// share keeps the rows in shared vectors.
func (f *factorProgram) share(j *job) (err error) {
	if f.sharedUsers, err = j.rows("users", f.config.Users, f.config.RowSize()); err != nil {
		return err
	}
	if f.sharedItems, err = j.rows("items", f.config.Items, f.config.RowSize()); err != nil {
		return err
	}
	f.config.UserRows, f.config.ItemRows = f.sharedUsers.vector.Values(), f.sharedItems.vector.Values()
	return nil
}

// exchange sends the changed rows, and writes those of other ranks over the own ones.
func (f *factorProgram) exchange(ctx context.Context) error {
	if err := f.sharedUsers.exchange(ctx, malt.Replace); err != nil {
		return err
	}
	return f.sharedItems.exchange(ctx, malt.Replace)
}
