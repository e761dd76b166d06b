// Package sweep selects the cases that a test runs: go test runs a sample, and with GOPHERWARP_SWEEP=1 in the environment all.
//
//	for i, shape := range shapes {
//		for k, open := range devices {
//			if sweep.Every(2, i+k) { // half of the pairs, so that every shape and every device occurs
//				test(t, open, shape)
//			}
//		}
//	}
//
// A sample contains every value of each parameter, but not all their combinations. The script .ci/run runs all.
package sweep
