package train

import "math"

// A Schedule returns the number by which the learning rate is multiplied in a step. Steps are numbered from 0.
type Schedule func(step int) float64

// Constant is the Schedule that does not change the learning rate.
func Constant(int) float64 { return 1 }

// Cosine returns a Schedule that falls, along half a cosine and in the given number of steps, from 1 to the argument last, and then stays at
// this value (Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts").
func Cosine(steps int, last float64) Schedule {
	return func(step int) float64 {
		if step >= steps {
			return last
		}
		return last + (1-last)*(1+math.Cos(math.Pi*float64(step)/float64(steps)))/2
	}
}

// Linear returns a Schedule that falls linearly, in the given number of steps, from 1 to the argument last, and then stays at this value.
func Linear(steps int, last float64) Schedule {
	return func(step int) float64 {
		if step >= steps {
			return last
		}
		return 1 - (1-last)*float64(step)/float64(steps)
	}
}

// WarmUp returns a Schedule that rises linearly to 1 in the given number of steps. Then it follows the argument next, whose step 0 is
// the first step after the rise.
func WarmUp(steps int, next Schedule) Schedule {
	steps = max(steps, 0)
	return func(step int) float64 {
		if step < steps {
			return float64(step+1) / float64(steps+1)
		}
		return next(step - steps)
	}
}
