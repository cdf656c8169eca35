// SPDX-License-Identifier: Apache-2.0

// Package packages runs the Python package where large packages of others start its jobs: on Spark, on Ray, under torchrun
// and in a notebook. scripts/setup-places.sh python installs them in .venv-places. The tests are the files test_*.py of this
// directory; the Go test builds the wheel, installs it and runs them.
//
// make test-places runs this package, make test and make test-all do not: the packages take 1.2 GB, and their
// clusters minutes to start on a busy machine.
package packages
