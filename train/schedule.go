package train

import "math"

// A Schedule returns the number by which the learning rate is multiplied in a step. Steps are numbered from 0.
type Schedule func(step int) float64

// Constant is the Schedule that does not change the learning rate.
func Constant(int) float64 { return 1 }

// Cosine returns a Schedule that falls from 1 to the value last, along half a cosine, in the given number of steps, and then stays at this
// value (Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts").
func Cosine(steps int, last float64) Schedule {
	return func(step int) float64 {
		if step >= steps {
			return last
		}
		return last + (1-last)*(1+math.Cos(math.Pi*float64(step)/float64(steps)))/2
	}
}

// Linear returns a Schedule that falls linearly from 1 to the value last in the given number of steps, and then stays at this value.
func Linear(steps int, last float64) Schedule {
	return func(step int) float64 {
		if step >= steps {
			return last
		}
		return 1 - (1-last)*float64(step)/float64(steps)
	}
}

// WarmUp returns a Schedule that rises linearly to 1 in the given number of steps, and then follows the Schedule next.
func WarmUp(steps int, next Schedule) Schedule {
	steps = max(steps, 0)
	return func(step int) float64 {
		if step < steps {
			return float64(step+1) / float64(steps+1)
		}
		return next(step - steps)
	}
}
