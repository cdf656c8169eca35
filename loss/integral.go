// SPDX-License-Identifier: Apache-2.0

package loss

// Integral returns the factor that makes Loss the integral of First: 1, but for
// vw's poisson loss, a deviance, which is twice the negative log-likelihood that
// its derivatives belong to. A method that compares a decrease of the loss with
// a derivative needs it.
func Integral(l Loss) float64 {
	if _, ok := l.(poisson); ok {
		return 0.5
	}
	return 1
}
