// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// scores are the figures of a model on a test file.
type scores struct {
	n       int
	auc     float64
	errors  int // at a threshold of 1/2
	logLoss float64
}

// newScores compares margins (log-odds of spam) with labels.
func newScores(spam []bool, margins []float64) scores {
	s := scores{n: len(spam), auc: auc(spam, margins)}
	for i, m := range margins {
		if !spam[i] {
			m = -m
		}
		s.logLoss += math.Log1p(math.Exp(-m))
		if m <= 0 {
			s.errors++
		}
	}
	s.logLoss /= float64(len(spam))
	return s
}

// auc returns the probability that a spam has a greater margin than a ham, with a tie counted
// as half: the area under the ROC curve.
func auc(spam []bool, margins []float64) float64 {
	order := make([]int, len(margins))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case margins[a] < margins[b]:
			return -1
		case margins[a] > margins[b]:
			return 1
		}
		return 0
	})
	var wins, hams, spams float64
	for lo := 0; lo < len(order); {
		hi, tiedSpam, tiedHam := lo, 0.0, 0.0
		for ; hi < len(order) && margins[order[hi]] == margins[order[lo]]; hi++ {
			if spam[order[hi]] {
				tiedSpam++
			} else {
				tiedHam++
			}
		}
		wins += tiedSpam * (hams + tiedHam/2)
		hams += tiedHam
		spams += tiedSpam
		lo = hi
	}
	return wins / (hams * spams)
}

// eachLine calls f for each line of a file, which it decompresses if the name ends in .gz.
func eachLine(path string, f func(line string) error) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var r io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	s := bufio.NewScanner(r)
	s.Buffer(nil, 16<<20)
	for n := 1; s.Scan(); n++ {
		if err := f(s.Text()); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	return s.Err()
}

// readLabels reports for each line of vw text whether it is spam.
func readLabels(path string) (spam []bool, err error) {
	err = eachLine(path, func(line string) error {
		spam = append(spam, strings.HasPrefix(line, "1 "))
		return nil
	})
	return spam, err
}

// readMargins reads the output of -p: "margin tag" on each line.
func readMargins(path string) (margins []float64, err error) {
	err = eachLine(path, func(line string) error {
		number, _, _ := strings.Cut(line, " ")
		m, err := strconv.ParseFloat(number, 64)
		margins = append(margins, m)
		return err
	})
	return margins, err
}
