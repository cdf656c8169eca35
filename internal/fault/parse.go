// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// maxFaults is the limit of a plan: each fault costs time at every point.
const maxFaults = 64

// Parse parses a plan: faults separated by semicolons, each a list of name:value
// separated by commas. It reports all faults of the text.
func Parse(text string) (Plan, error) {
	var p Plan
	var errs []error
	for i, part := range strings.Split(text, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		f, err := parseFault(part)
		if err != nil {
			errs = append(errs, fmt.Errorf("fault %d, %q: %w", i+1, part, err))
			continue
		}
		p = append(p, f)
	}
	switch {
	case len(errs) > 0:
		return nil, errors.Join(errs...)
	case len(p) == 0:
		return nil, errors.New("it is empty: want a fault such as rank:2,op:17,kind:exit")
	case len(p) > maxFaults:
		return nil, fmt.Errorf("%d faults: want at most %d", len(p), maxFaults)
	}
	return p, nil
}

func parseFault(text string) (Fault, error) {
	f := Fault{Rank: Every, Attempt: 1, Generation: 1}
	r := reader{f: &f, seen: map[string]bool{}}
	for word := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(strings.TrimSpace(word), ":")
		if !found {
			return f, fmt.Errorf("%q is not name:value, such as rank:2", word)
		}
		if r.seen[name] {
			return f, fmt.Errorf("%s is given twice", name)
		}
		r.seen[name] = true
		if err := r.field(name, value); err != nil {
			return f, err
		}
	}
	return f, r.check()
}

// reader is the state of parsing one fault.
type reader struct {
	f    *Fault
	seen map[string]bool
	at   string // the name of the point
}

func (r *reader) field(name, value string) error {
	for p, d := range Points {
		if d.Name != name {
			continue
		}
		if r.at != "" {
			return fmt.Errorf("both %s and %s: a fault has one point", r.at, name)
		}
		r.at, r.f.At = name, Point(p)
		return count(name, value, &r.f.N)
	}
	switch name {
	case "rank":
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return fmt.Errorf("rank:%s: want a number from 0; omit it for all ranks", value)
		}
		r.f.Rank = int(n)
	case "kind":
		return r.kind(value)
	case "code":
		n, err := strconv.ParseUint(value, 10, 8)
		if err != nil || n == 0 {
			return fmt.Errorf("code:%s: want a number from 1 to 255", value)
		}
		r.f.Code = int(n)
	case "slow":
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x > 1) || math.IsInf(x, 0) {
			return fmt.Errorf("slow:%s: want a factor above 1", value)
		}
		r.f.Factor = x
	case "delay":
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return fmt.Errorf("delay:%s: want a time above 0, such as 50ms or 2s", value)
		}
		r.f.Delay = d
	case "attempt":
		return life(name, value, &r.f.Attempt)
	case "generation":
		return life(name, value, &r.f.Generation)
	default:
		return fmt.Errorf("%q is unknown: a fault has a point (%s), kind, rank, attempt, generation, code, slow, delay", name, names(Points))
	}
	return nil
}

// life parses a number from 1, or any.
func life(name, value string, to *uint64) error {
	if value == "any" {
		*to = Any
		return nil
	}
	return count(name, value, to)
}

// count parses a number from 1.
func count(name, value string, to *uint64) error {
	n, err := strconv.ParseUint(value, 10, 63)
	if err != nil || n == 0 {
		return fmt.Errorf("%s:%s: want a number from 1", name, value)
	}
	*to = n
	return nil
}

func (r *reader) kind(value string) error {
	for k, d := range Kinds {
		if d.Name == value && Kind(k) != None {
			r.f.Kind = Kind(k)
			return nil
		}
	}
	return fmt.Errorf("kind:%s: want one of %s", value, names(Kinds[Exit:]))
}

func names(all []Description) string {
	words := make([]string, len(all))
	for i, d := range all {
		words[i] = d.Name
	}
	return strings.Join(words, ", ")
}

// check returns an error for missing fields, and for fields that would be ignored.
func (r *reader) check() error {
	f := r.f
	slow := r.seen["slow"] || r.seen["delay"]
	if slow && f.Kind == None {
		f.Kind = Slow
	}
	switch {
	case r.at == "":
		return fmt.Errorf("it has no point: add one of %s with a number, such as op:17", names(Points))
	case f.Kind == None:
		return fmt.Errorf("it has no kind: add kind: and one of %s", names(Kinds[Exit:]))
	case f.Kind == Slow && !slow:
		return errors.New("kind:slow needs slow:10 (a factor) or delay:50ms (additional time)")
	case f.Kind != Slow && slow:
		return fmt.Errorf("slow and delay would be ignored with kind:%v", f.Kind)
	case r.seen["slow"] && r.seen["delay"]:
		return errors.New("both slow and delay: use only one of them")
	case r.seen["slow"] && f.At != Work && f.At != Exchange:
		return fmt.Errorf("slow:%v is only for work and exchange: at %s use delay:T", f.Factor, r.at)
	case r.seen["code"] && f.Kind != Exit:
		return fmt.Errorf("code would be ignored with kind:%v", f.Kind)
	case f.Kind.onConnections() && !f.At.connected():
		return fmt.Errorf("kind:%v needs connections between ranks, which do not exist at %s: use op, work or commit", f.Kind, r.at)
	}
	if f.Kind == Exit && f.Code == 0 {
		f.Code = DefaultCode
	}
	return nil
}
