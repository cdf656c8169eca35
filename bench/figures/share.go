// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// sharePeriod is the period of the limits of control groups in µs. A short one delays messages less.
const sharePeriod = 20_000

// shareProcessor makes a control group for each rank, which may use a share of one processor. Together they have a high
// weight, so that other work on the machine does not slow them down. end removes them.
func shareProcessor(total int, share float64) (dir string, end func() error, err error) {
	root, v2 := "/sys/fs/cgroup/cpu", false
	if _, err := os.Stat(filepath.Join(root, "cpu.shares")); err != nil {
		root, v2 = "/sys/fs/cgroup", true
	}
	if dir, err = os.MkdirTemp(root, "gvw-figures-"); err != nil {
		return "", nil, err
	}
	group := func(rank int) string { return filepath.Join(dir, "h"+strconv.Itoa(rank)) }
	end = func() (err error) {
		for rank := range total {
			err = errors.Join(err, os.Remove(group(rank)))
		}
		return errors.Join(err, os.Remove(dir))
	}
	write := func(group, name, text string) {
		err = errors.Join(err, os.WriteFile(filepath.Join(group, name), []byte(text), 0o644))
	}
	if v2 {
		write(root, "cgroup.subtree_control", "+cpu")
		write(dir, "cgroup.subtree_control", "+cpu")
		write(dir, "cpu.weight", "10000")
	} else {
		write(dir, "cpu.shares", "262144")
	}
	quota := int(share * sharePeriod)
	for rank := range total {
		err = errors.Join(err, os.Mkdir(group(rank), 0o755))
		if v2 {
			write(group(rank), "cpu.max", fmt.Sprintf("%d %d", quota, sharePeriod))
			continue
		}
		write(group(rank), "cpu.cfs_period_us", strconv.Itoa(sharePeriod))
		write(group(rank), "cpu.cfs_quota_us", strconv.Itoa(quota))
	}
	if err != nil {
		return "", nil, errors.Join(err, end())
	}
	return dir, end, nil
}
