// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"fmt"
	"strconv"
	"strings"
)

// maxSlots bounds the workers of a list of hosts.
const maxSlots = 4096

// Hosts parses the lines of a file of hosts, or a list with commas in place of the ends of lines. It returns a host for each
// worker, in order. A line is HOST, HOST:SLOTS or HOST slots=SLOTS; # begins a comment. HOST is passed to ssh as it is.
func Hosts(text string) ([]string, error) {
	var all []string
	for i, line := range strings.FieldsFunc(strings.ReplaceAll(text, "\r", ""), func(r rune) bool { return r == '\n' || r == ',' }) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		host, slots := words[0], "1"
		switch at := strings.LastIndexByte(host, ':'); {
		case len(words) == 2 && strings.HasPrefix(words[1], "slots="):
			slots = strings.TrimPrefix(words[1], "slots=")
		case len(words) > 1:
			return nil, fmt.Errorf("host %d: %q: want HOST, HOST:SLOTS or HOST slots=SLOTS", i+1, strings.TrimSpace(line))
		case at >= 0 && (strings.Count(host, ":") == 1 || strings.HasSuffix(host[:at], "]")):
			host, slots = host[:at], host[at+1:]
		}
		n, err := strconv.ParseUint(slots, 10, 16)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("host %d: %q: want a number of workers from 1 on", i+1, strings.TrimSpace(line))
		}
		host = strings.Trim(host, "[]")
		if host == "" || strings.HasPrefix(host, "-") {
			return nil, fmt.Errorf("host %d: %q is no name of a machine", i+1, host)
		}
		if len(all)+int(n) > maxSlots {
			return nil, fmt.Errorf("host %d: more than %d workers", i+1, maxSlots)
		}
		for range n {
			all = append(all, host)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no host in the list")
	}
	return all, nil
}
