// SPDX-License-Identifier: Apache-2.0

// Package optimtest has objectives of known optimum for the tests of solvers:
// random examples, losses with two derivatives, the sums over examples that
// package optim asks for, and Newton's method on the whole Hessian to compare
// with. It is for tests only.
//
//	points := optimtest.RandomPoints(7, 400, 30, optimtest.Sign)
//	obj := optimtest.Objective(points, optimtest.Logistic, -50, 50)
package optimtest
