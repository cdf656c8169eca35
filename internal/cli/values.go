// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Canonical checks a value and returns its canonical form, in which values are compared and
// passed on.
func (s *Spec) Canonical(value string) (string, error) {
	switch s.Kind {
	case Integer:
		return s.canonicalInteger(value)
	case Float:
		// vw refuses a number that is too large for a float32.
		f, err := strconv.ParseFloat(strings.TrimSpace(value), 32)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || strings.ContainsAny(value, "xX_") {
			return "", fmt.Errorf("%q is not a number that fits a float", value)
		}
		if s.Positive && f <= 0 {
			return "", fmt.Errorf("%s: a number above 0 is needed", value)
		}
		return strconv.FormatFloat(f, 'g', -1, 32), nil
	case Duration:
		return canonicalDuration(value)
	}
	switch {
	case value == "" && !s.Empty:
		return "", errors.New("the value is empty")
	case s.Choices != nil && !slices.Contains(s.Choices, value):
		return "", fmt.Errorf("%q is not one of %s", value, strings.Join(s.Choices, ", "))
	}
	return value, nil
}

// canonicalInteger parses a decimal number. Leading zeros do not make it octal.
func (s *Spec) canonicalInteger(value string) (string, error) {
	limit := s.Max
	if limit == 0 {
		limit = math.MaxInt32
	}
	least := uint64(0)
	if s.Positive {
		least = 1
	}
	value = strings.TrimSpace(value)
	if value == s.Unset && value != "" {
		return value, nil
	}
	if s.Wraps && strings.HasPrefix(value, "-") {
		below, err := strconv.ParseUint(value[1:], 10, 64)
		if err != nil || below > limit {
			return "", fmt.Errorf("%q is not a whole number from -%d on", value, limit)
		}
		return strconv.FormatUint((limit+1-below)&limit, 10), nil
	}
	u, err := strconv.ParseUint(strings.TrimPrefix(value, "+"), 10, 64)
	if errors.Is(err, strconv.ErrRange) || err == nil && u > limit {
		return "", fmt.Errorf("%s is too large: at most %d", value, limit)
	}
	if err != nil || u < least {
		return "", fmt.Errorf("%q is not a whole number from %d on", value, least)
	}
	return strconv.FormatUint(u, 10), nil
}

// canonicalDuration parses a duration such as 1m30s. A number without a unit is in seconds.
func canonicalDuration(value string) (string, error) {
	d, err := time.ParseDuration(value)
	if err != nil {
		seconds, serr := strconv.ParseFloat(value, 64)
		if serr != nil || !(seconds < math.MaxInt64/1e9) {
			return "", fmt.Errorf("%q is no time: write it like 10s or 1m30s", value)
		}
		d = time.Duration(seconds * float64(time.Second))
	}
	if d <= 0 {
		return "", fmt.Errorf("%q: a time above 0 is needed", value)
	}
	return d.String(), nil
}
