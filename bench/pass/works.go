// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// work is one row of the table.
type work struct {
	name string
	// before is run once per program, unmeasured, and makes the files that args need. CACHE and
	// MODEL in both are files of the program's own.
	before []string
	args   []string
}

// quadratic is the number of lines for data with a thousand features each, where all lines
// would take too long.
const quadratic = 8000

// works returns the rows; dir is the folder for files that they need besides the data.
func works(data, dir string) ([]work, error) {
	sparse, dense := filepath.Join(data, "sparse.vw"), filepath.Join(data, "dense.vw")
	short := filepath.Join(dir, "short.vw")
	if err := firstLines(short, sparse, quadratic); err != nil {
		return nil, err
	}
	rule := "--loss_function logistic -b 22"
	row := func(name, file, before, args string) work {
		w := work{name: name, args: words("-d "+file, rule, args)}
		if before != "" {
			w.before = words("-d "+file, rule, before)
		}
		return w
	}
	return []work{
		row("sparse text", sparse, "", ""),
		row("dense text", dense, "", ""),
		row("sparse cache", sparse, "-k --cache_file CACHE", "--cache_file CACHE"),
		row("dense cache", dense, "-k --cache_file CACHE", "--cache_file CACHE"),
		row("sparse, 5 passes", sparse, "", "-k --cache_file CACHE --passes 5 --holdout_off"),
		row("dense, 5 passes", dense, "", "-k --cache_file CACHE --passes 5 --holdout_off"),
		row(fmt.Sprintf("-q uv, %d lines", quadratic), short, "", "-q uv"),
		row("predict sparse", sparse, "-f MODEL", "-t -i MODEL"),
		row("predict dense", dense, "-f MODEL", "-t -i MODEL"),
	}, nil
}

// composed returns the rows of vw's composed learners. dir has the files of made. Without data the
// rows that need it are left out.
func composed(data, dir string) []work {
	in := func(folder, file, options string) work {
		return work{name: options, args: words("-d "+filepath.Join(folder, file), options)}
	}
	row := func(file, options string) work { return in(data, file, options) }
	const logistic = " --loss_function logistic"
	small := []work{
		in(dir, "costs.vw", "--csoaa 10"),
		in(dir, "lists.vw", "--multilabel_oaa 10"+logistic),
		in(dir, "classes.vw", "--ect 10"+logistic),
		in(dir, "classes.vw", "--log_multi 10"),
		in(dir, "ids.vw", "--marginal m"+logistic),
		in(dir, "ids.vw", "--stage_poly --batch_sz 20000 --sched_exponent 0.5 -b 20"+logistic),
		in(dir, "ids.vw", "--freegrad"+logistic),
		in(dir, "ids.vw", "--svrg -l 0.05 --passes 4 -k --cache_file CACHE --holdout_off"+logistic),
	}
	if data == "" {
		return small
	}
	return append(small, []work{
		row("pairs.vw", "--lrq ui10"),
		row("pairs.vw", "--lrqfa ui10"),
		row("pairs.vw", "--rank 10 -q ui -l 0.05 -b 15"),
		row("pairs.vw", "--new_mf 10 -q ui"),
		row("pairs.vw", "--bootstrap 10"),
		row("pairs.vw", "--coin"),
		row("dense.vw", "--nn 10"+logistic),
		row("dense.vw", "--bootstrap 10"+logistic),
		row("dense.vw", "--boosting 10"+logistic),
		row("dense.vw", "--boosting 10 --alg logistic"+logistic),
		row("dense.vw", "--coin"+logistic),
	}...)
}

func words(lines ...string) []string { return strings.Fields(strings.Join(lines, " ")) }

// firstLines copies the first n lines of a file.
func firstLines(dst, src string, n int) error {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(dst)
	if err != nil {
		return err
	}
	defer out.Close()
	r := bufio.NewReader(in)
	for range n {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("%s: want %d lines: %w", src, n, err)
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Close()
}
