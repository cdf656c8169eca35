// SPDX-License-Identifier: Apache-2.0

package site

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxHosts bounds the hosts of a list: a range such as [0-4000000000] is no list of machines.
const maxHosts = 1 << 16

// Expand returns the hosts of a list in Slurm's notation, in their order: n[1-3,07],login is n1, n2, n3, n07 and login. Zeros
// at the beginning of a number are kept.
func Expand(list string) ([]string, error) {
	var hosts []string
	for len(list) > 0 {
		item, rest, err := firstItem(list)
		if err != nil {
			return nil, err
		}
		list = rest
		some, err := expandItem(item)
		if err != nil {
			return nil, err
		}
		if hosts = append(hosts, some...); len(hosts) > maxHosts {
			return nil, errTooMany
		}
	}
	return hosts, nil
}

var errTooMany = fmt.Errorf("more than %d hosts", maxHosts)

// firstItem splits a list at the first comma outside of brackets.
func firstItem(list string) (item, rest string, err error) {
	inside := false
	for i, c := range list {
		switch {
		case c == '[' && inside, c == ']' && !inside:
			return "", "", errors.New("brackets do not match")
		case c == '[', c == ']':
			inside = !inside
		case c == ',' && !inside:
			if i == 0 || i == len(list)-1 {
				return "", "", errors.New("a host is empty")
			}
			return list[:i], list[i+1:], nil
		}
	}
	if inside {
		return "", "", errors.New("brackets do not match")
	}
	return list, "", nil
}

// expandItem expands one item, whose brackets match. Of several brackets the last one varies fastest.
func expandItem(item string) ([]string, error) {
	before, rest, found := strings.Cut(item, "[")
	if !found {
		return []string{item}, nil
	}
	set, after, _ := strings.Cut(rest, "]")
	ends, err := expandItem(after)
	if err != nil {
		return nil, err
	}
	var hosts []string
	for part := range strings.SplitSeq(set, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		a, aerr := strconv.ParseUint(low, 10, 32)
		b, berr := strconv.ParseUint(high, 10, 32)
		if aerr != nil || berr != nil || b < a {
			return nil, fmt.Errorf("[%s]: want numbers and ranges such as 1-3", set)
		}
		if (b-a+1)*uint64(len(ends)) > maxHosts {
			return nil, errTooMany
		}
		for n := a; n <= b; n++ {
			for _, end := range ends {
				hosts = append(hosts, fmt.Sprintf("%s%0*d%s", before, len(low), n, end))
			}
		}
	}
	return hosts, nil
}
