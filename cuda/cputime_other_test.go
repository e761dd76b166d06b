//go:build !unix

package cuda

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }
