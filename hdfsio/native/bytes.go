// SPDX-License-Identifier: Apache-2.0

package native

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"

	"github.com/colinmarc/hdfs/v2"
)

// Open reads a file from offset on.
func (c *Client) Open(name string, offset int64) (r io.ReadCloser, err error) {
	if err := c.cfg.transferable(); err != nil {
		return nil, err
	}
	err = c.with(func(client *hdfs.Client) error {
		f, err := client.Open(name)
		if err != nil {
			return err
		}
		if err := readable(f.Stat()); err != nil {
			_ = f.Close() // nothing was read
			return err
		}
		if offset > 0 { // at 0 the library would connect twice
			if _, err := f.Seek(offset, io.SeekStart); err != nil {
				_ = f.Close() // nothing was read
				return err
			}
		}
		r = &reader{f}
		return nil
	})
	return r, err
}

// reader is the library's reader. It explains the library's errors.
type reader struct{ f *hdfs.FileReader }

func (r *reader) Read(b []byte) (int, error) {
	n, err := r.f.Read(b)
	if err != nil && err != io.EOF {
		err = broken(err)
	}
	return n, err
}

func (r *reader) Close() error { return r.f.Close() }

// The limit for the last block to reach as many data nodes as the name node requires.
const (
	replicating      = time.Minute
	replicatingPause = 50 * time.Millisecond
)

// copySize is the size of writes in bytes: the library makes packets of 64 KiB.
const copySize = 1 << 20

// Put makes a file from r.
func (c *Client) Put(name string, r io.Reader, perm fs.FileMode) error {
	if err := c.cfg.transferable(); err != nil {
		return err
	}
	return c.with(func(client *hdfs.Client) error {
		folder, err := client.Stat(path.Dir(name))
		if err == nil {
			err = readable(folder)
		}
		if err != nil {
			return err
		}
		replication, blockSize, err := c.shape(client)
		if err != nil {
			return err
		}
		f, err := client.CreateFile(name, replication, blockSize, perm)
		if err != nil {
			return err
		}
		if _, err := io.CopyBuffer(struct{ io.Writer }{f}, struct{ io.Reader }{r}, make([]byte, copySize)); err != nil {
			_ = f.Close() // it cannot be completed; its lease expires at the name node
			return broken(err)
		}
		return finish(f)
	})
}

// finish closes a file. The name node must have its last block for that.
func finish(f *hdfs.FileWriter) error {
	for begun := time.Now(); ; time.Sleep(replicatingPause) {
		err := f.Close()
		switch {
		case err == nil:
			return nil
		case !hdfs.IsErrReplicating(err):
			return broken(err)
		case time.Since(begun) > replicating:
			return broken(fmt.Errorf("the last block is not on enough data nodes after %v: %w", replicating, err))
		}
	}
}

// shape returns the replication and block size of new files.
func (c *Client) shape(client *hdfs.Client) (replication int, blockSize int64, err error) {
	replication, blockSize = c.cfg.Replication, c.cfg.BlockSize
	if replication > 0 && blockSize > 0 {
		return replication, blockSize, nil
	}
	defaults, err := client.ServerDefaults()
	if err != nil {
		return 0, 0, err
	}
	if replication == 0 {
		replication = defaults.Replication
	}
	if blockSize == 0 {
		blockSize = defaults.BlockSize
	}
	return replication, blockSize, nil
}
