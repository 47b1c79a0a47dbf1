package search

import "math"

// fitLogistic gives the weights by which the logistic function of a sum of values tells best what is right, by Newton's method.
func fitLogistic(of [][]float64, right []bool) []float64 {
	const ridge, steps = 1e-3, 25
	weights := make([]float64, len(of[0]))
	for range steps {
		slope, curve := make([]float64, len(weights)), make([][]float64, len(weights))
		for i := range curve {
			curve[i] = make([]float64, len(weights))
			curve[i][i], slope[i] = ridge, -ridge*weights[i]
		}
		for n, x := range of {
			z, y := 0.0, 0.0
			for i := range x {
				z += weights[i] * x[i]
			}
			if right[n] {
				y = 1
			}
			p := 1 / (1 + math.Exp(-z))
			for i := range x {
				slope[i] += (y - p) * x[i]
				for j := range x {
					curve[i][j] += p * (1 - p) * x[i] * x[j]
				}
			}
		}
		for i, step := range solve(curve, slope) {
			weights[i] += step
		}
	}
	return weights
}

// solve gives x of ax = b, for a symmetric positive a; both are changed.
func solve(a [][]float64, b []float64) []float64 {
	for i := range b {
		for row := i + 1; row < len(b); row++ {
			part := a[row][i] / a[i][i]
			for column := i; column < len(b); column++ {
				a[row][column] -= part * a[i][column]
			}
			b[row] -= part * b[i]
		}
	}
	for i := len(b) - 1; i >= 0; i-- {
		for column := i + 1; column < len(b); column++ {
			b[i] -= a[i][column] * b[column]
		}
		b[i] /= a[i][i]
	}
	return b
}
