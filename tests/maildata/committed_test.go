// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"compress/gzip"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The committed files have the properties that doc.go lists.
func TestCommittedFiles(t *testing.T) {
	line := regexp.MustCompile(`^(1|-1) '((?:easy-ham|hard-ham|spam)-[12]/\d{5})\|s(?::0\.\d+)?( [^ |:@]+)* \|b(?::0\.\d+)?( [^ |:@]+)*$`)
	bodies, tags := map[string]string{}, map[string]bool{}
	size := int64(0)
	for _, name := range []string{"../../quickstart/train.vw.gz", "../../quickstart/test.vw.gz"} {
		labels := map[string]int{}
		n := 0
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
		zip, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		s := bufio.NewScanner(zip)
		s.Buffer(nil, 4<<20)
		for s.Scan() {
			n++
			m := line.FindStringSubmatch(s.Text())
			if m == nil {
				t.Fatalf("%s:%d: not in the form of the documentation: %.200q", name, n, s.Text())
			}
			if spam := strings.HasPrefix(m[2], "spam"); spam != (m[1] == "1") {
				t.Errorf("%s:%d: label %s of %s", name, n, m[1], m[2])
			}
			if tags[m[2]] {
				t.Errorf("%s:%d: %s is there twice", name, n, m[2])
			}
			tags[m[2]] = true
			labels[m[1]]++
			_, body, _ := strings.Cut(s.Text(), " |b")
			if other := bodies[body]; other != "" && other != name && strings.Contains(body, " ") {
				t.Errorf("%s:%d: the same words as in a line of %s", name, n, other)
			}
			bodies[body] = name
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		if share := float64(labels["1"]) / float64(n); n < 1000 || share < 0.2 || share > 0.35 {
			t.Errorf("%s: %d lines, %.0f %% spam", name, n, 100*share)
		}
	}
	if size > 3<<20 {
		t.Errorf("%d bytes of data, more than 3 MiB", size)
	}
}
