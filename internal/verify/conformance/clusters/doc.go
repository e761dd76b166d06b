// Package clusters has the conformance cases about clusters: blocks that meet at a barrier and see each other's
// shared memory. They need a GPU of compute capability 9.0, or a device that is not a GPU.
//
//	for _, c := range clusters.Cases() {
//		for behaviour, err := range c.On(ctx, dev) {
//			fmt.Println(behaviour, err)
//		}
//	}
//
//gpu:ondemand
package clusters
