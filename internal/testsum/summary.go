// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"slices"
	"strings"
)

// outcome is the result of one test in one run.
type outcome struct {
	run      string // name of the run: the recording's file name
	pkg      string
	test     string   // empty: the package itself
	action   string   // pass, fail or skip
	elapsed  float64  // seconds
	reason   string   // text of a skip
	findings []string // first lines of a failure
}

// name returns the test's name in the report.
func (o outcome) name() string {
	if o.test == "" {
		return o.pkg
	}
	return o.pkg + " " + o.test
}

// ledger collects the results of tests.
type ledger struct {
	ends   []outcome
	output map[[3]string][]string // of tests under way
}

// add takes the next event of a run.
func (l *ledger) add(run string, e event) {
	if l.output == nil {
		l.output = map[[3]string][]string{}
	}
	key := [3]string{run, e.Package, e.Test}
	switch e.Action {
	case "output":
		l.output[key] = append(l.output[key], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" && e.Action != "fail" {
			return // a package that passed, or that has no tests
		}
		o := outcome{run: run, pkg: e.Package, test: e.Test, action: e.Action, elapsed: e.Elapsed}
		switch e.Action {
		case "skip":
			o.reason = reason(l.output[key])
		case "fail":
			o.findings = findings(l.output[key])
		}
		l.ends = append(l.ends, o)
		delete(l.output, key)
	}
}

// slowest returns the n tests at the top level that took longest.
func (l *ledger) slowest(n int) []outcome {
	var top []outcome
	for _, o := range l.ends {
		if o.test != "" && !strings.Contains(o.test, "/") {
			top = append(top, o)
		}
	}
	slices.SortStableFunc(top, func(a, b outcome) int { return cmp.Compare(b.elapsed, a.elapsed) })
	return top[:min(n, len(top))]
}

// sum is the contents of a report.
type sum struct {
	passed          int
	failed, skipped []outcome
}

// sum counts by the rules of the package's documentation.
func (l *ledger) sum() sum {
	// Below: parents[run, pkg, test] is true for tests with subtests,
	type key = [3]string
	parents, failedBelow, passed := map[key]bool{}, map[key]bool{}, map[[2]string]bool{}
	for _, o := range l.ends {
		if o.action == "pass" {
			passed[[2]string{o.pkg, o.test}] = true
		}
		for above, more := o.test, o.test != ""; more; {
			i := strings.LastIndexByte(above, '/')
			if more = i >= 0; more {
				above = above[:i]
			} else {
				above = "" // the package
			}
			parents[key{o.run, o.pkg, above}] = true
			if o.action == "fail" {
				failedBelow[key{o.run, o.pkg, above}] = true
			}
		}
	}
	var s sum
	for _, o := range l.ends {
		k := key{o.run, o.pkg, o.test}
		switch o.action {
		case "pass":
			if !parents[k] {
				s.passed++
			}
		case "fail":
			if !failedBelow[k] {
				s.failed = append(s.failed, o)
			}
		case "skip":
			if !passed[[2]string{o.pkg, o.test}] {
				s.skipped = append(s.skipped, o)
			}
		}
	}
	byName := func(a, b outcome) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.test, b.test), cmp.Compare(a.run, b.run))
	}
	slices.SortFunc(s.failed, byName)
	slices.SortFunc(s.skipped, byName)
	// A test that is skipped in two runs is one skip.
	s.skipped = slices.CompactFunc(s.skipped, func(a, b outcome) bool { return a.pkg == b.pkg && a.test == b.test })
	return s
}

// omitSampled removes the skips because of -short and returns them.
func (s *sum) omitSampled() (omitted []outcome) {
	var others []outcome
	for _, o := range s.skipped {
		if strings.HasPrefix(o.reason, sampled) {
			omitted = append(omitted, o)
		} else {
			others = append(others, o)
		}
	}
	s.skipped = others
	return omitted
}
