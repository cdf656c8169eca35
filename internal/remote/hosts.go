// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"fmt"
	"strconv"
	"strings"
)

// maxSlots bounds the workers of a list of hosts.
const maxSlots = 4096

// Hosts parses a list of hosts, which are separated by commas and ends of lines. It returns a host for each worker, in
// order. Each is HOST, HOST:SLOTS or HOST slots=SLOTS; # begins a comment, which ends with its line. HOST is passed to ssh as
// it is, without the brackets of an IPv6 address.
func Hosts(text string) ([]string, error) {
	var all []string
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		line, _, _ = strings.Cut(line, "#") // a comment may have commas
		for entry := range strings.SplitSeq(line, ",") {
			words := strings.Fields(entry)
			if len(words) == 0 {
				continue
			}
			n++
			var err error
			if all, err = appendHost(all, words); err != nil {
				return nil, fmt.Errorf("host %d: %w", n, err)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no host in the list")
	}
	return all, nil
}

// appendHost appends the host of these words to dst, once for each of its workers.
func appendHost(dst, words []string) ([]string, error) {
	host, slots := words[0], "1"
	switch at := strings.LastIndexByte(host, ':'); {
	case len(words) == 2 && strings.HasPrefix(words[1], "slots="):
		slots = strings.TrimPrefix(words[1], "slots=")
	case len(words) > 1:
		return nil, fmt.Errorf("%q: want HOST, HOST:SLOTS or HOST slots=SLOTS", strings.Join(words, " "))
	case at >= 0 && (strings.Count(host, ":") == 1 || strings.HasSuffix(host[:at], "]")):
		host, slots = host[:at], host[at+1:]
	}
	n, err := strconv.ParseUint(slots, 10, 16)
	if err != nil || n == 0 {
		return nil, fmt.Errorf("%q: want a number of workers from 1 on", strings.Join(words, " "))
	}
	at := strings.LastIndexByte(host, '@') + 1 // 0: there is no user
	name := strings.Trim(host[at:], "[]")
	if host = host[:at] + name; name == "" || strings.HasPrefix(host, "-") {
		return nil, fmt.Errorf("%q is no name of a machine", host)
	}
	if len(dst)+int(n) > maxSlots {
		return nil, fmt.Errorf("more than %d workers", maxSlots)
	}
	for range n {
		dst = append(dst, host)
	}
	return dst, nil
}
